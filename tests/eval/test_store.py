"""The store: what goes in comes out, whole blocks or nothing, and only files of ours."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eval import store as store_module
from eval.arena import play
from eval.store import Pairing, Store, StoreError
from fives_env.policies import BuiltIn
from fives_env.rules import Rules

TWO = Rules.preset("fives-and-threes")
FOUR = Rules.preset("all-fives", players=4, partners=False)
PAIRING = Pairing(TWO.spec, 3, "greedy", "random")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a file that is not there yet."""
    return tmp_path / "deep" / "results.sqlite"


@pytest.mark.parametrize("rules", [TWO, FOUR])
def test_round_trip(path: Path, rules: Rules) -> None:
    pairing = Pairing(rules.spec, 3, "greedy", "random")
    found = play(rules, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6))
    with Store(path) as store:
        assert store.played(pairing, rules.num_sides) == set()
        store.add(pairing, found)
    with Store(path) as store:
        assert store.played(pairing, rules.num_sides) == set(range(6))
        assert store.played(pairing._replace(seed=4), rules.num_sides) == set()
        back = store.matches(pairing, 6, rules.num_sides)
    for name, values in vars(found).items():
        assert getattr(back, name).tolist() == values.tolist(), name


def test_adding_twice_changes_nothing(path: Path) -> None:
    found = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6))
    with Store(path) as store:
        store.add(PAIRING, found)
        store.add(PAIRING, found)
    assert sqlite3.connect(path).execute("SELECT COUNT(*) FROM matches").fetchone() == (12,)


def test_a_block_is_all_or_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6))
    rows = list(store_module._rows(PAIRING, found))

    def broken(*_: object) -> object:
        yield from rows[:7]
        raise KeyboardInterrupt

    with Store(path) as store:
        monkeypatch.setattr(store_module, "_rows", broken)
        with pytest.raises(KeyboardInterrupt):
            store.add(PAIRING, found)
        assert store.played(PAIRING, 1) == set()
        monkeypatch.undo()
        store.add(PAIRING, found)
        assert len(store.played(PAIRING, 2)) == 6


def write_text(path: Path) -> None:
    path.write_text("a shopping list, longer than the header of a database, for example" * 9)


def write_foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE films (title TEXT)")


def write_newer(path: Path) -> None:
    Store(path).__exit__(None, None, None)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")


def write_damaged(path: Path) -> None:
    with Store(path) as store:
        for start in range(0, 900, 300):
            pairs = np.arange(start, start + 300)
            found = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, pairs)
            store.add(PAIRING, found)
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 6] = bytes(4096 * 3)
    path.write_bytes(content)


def make_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (write_text, "damaged or not a results file"),
        (write_foreign, "a database of something else"),
        (write_newer, "schema 99, and this version reads schema 1"),
        (write_damaged, "damaged or not a results file"),
        (make_folder, "cannot be used"),
    ],
)
def test_other_files_are_refused(
    tmp_path: Path, write: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "results.sqlite"
    write(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(StoreError, match=message) as refusal:
        Store(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert before == (path.read_bytes() if path.is_file() else b"")


def test_empty_file_is_a_new_store(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    path.touch()
    with Store(path) as store:
        assert store.played(PAIRING, 2) == set()
