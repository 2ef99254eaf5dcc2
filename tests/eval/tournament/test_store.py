"""The store: what goes in comes out, whole blocks or nothing, and only files of ours."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eval.arena.paired import play, play_meeting
from eval.arena.schedule import Meeting
from eval.tournament import store as store_module
from eval.tournament.store import Store, StoreError
from fives_env.policies import BuiltIn
from fives_env.rules import Rules

TWO = Rules.preset("fives-and-threes")
THREE = Rules.preset("threes-and-fives", players=3)
FOUR = Rules.preset("all-fives", players=4, partners=False)
MEETING = Meeting(TWO.spec, 3, ("greedy", "random"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a file that is not there yet."""
    return tmp_path / "deep" / "results.sqlite"


@pytest.mark.parametrize("rules", [TWO, FOUR])
def test_round_trip(path: Path, rules: Rules) -> None:
    meeting = Meeting(rules.spec, 3, ("greedy", "random"))
    found = play(rules, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6))
    with Store(path) as store:
        assert store.played(meeting) == set()
        store.add(meeting, found)
    with Store(path) as store:
        assert store.played(meeting) == set(range(6))
        assert store.played(meeting._replace(seed=4)) == set()
        back = store.matches(meeting, 6)
        few = store.matches(meeting, 4)
        with pytest.raises(StoreError, match="does not hold 7 pairs"):
            store.matches(meeting, 7)
    for name, values in vars(found).items():
        assert getattr(back, name).tolist() == values.tolist(), name
        assert getattr(back, name).dtype == values.dtype, name
    assert few.lines.tolist() == found.lines[:4].tolist()


def test_tables_of_several_round_trip(path: Path) -> None:
    meeting = Meeting(THREE.spec, 3, ("x", "y", "z"))
    agents = [BuiltIn("greedy"), BuiltIn("random"), BuiltIn("greedy")]
    found = play_meeting(THREE, agents, 3, np.arange(5))
    with Store(path) as store:
        store.add(meeting, found)
        back = store.matches(meeting, 5)
        assert [line.agents for line in store.lineups()] == sorted(meeting.lineups)
        turned = store.matches(meeting._replace(agents=("x", "z", "y")), 5)
        shifted = store.matches(meeting._replace(agents=("y", "z", "x")), 5)
    assert meeting.lineups[:3] == [("x", "y", "z"), ("z", "x", "y"), ("y", "z", "x")]
    assert meeting.lineups[3:] == [("x", "z", "y"), ("y", "x", "z"), ("z", "y", "x")]
    for name, values in vars(found).items():
        assert getattr(back, name).tolist() == values.tolist(), name
    assert shifted.lines.tolist() == found.lines[:, [2, 0, 1, 4, 5, 3]].tolist()
    assert turned.lines.tolist() == found.lines[:, [3, 4, 5, 0, 1, 2]].tolist()


def test_of_two_sides_a_against_b_is_b_against_a(path: Path) -> None:
    found = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6))
    turned = MEETING._replace(agents=MEETING.agents[::-1])
    with Store(path) as store:
        store.add(MEETING, found)
        assert store.played(turned) == set(range(6))
        back = store.matches(turned, 6)
    for name, values in vars(found.swapped()).items():
        assert getattr(back, name).tolist() == values.tolist(), name


@pytest.mark.parametrize("rules", [TWO, THREE])
def test_a_match_of_an_agent_with_itself_is_stored_once(path: Path, rules: Rules) -> None:
    meeting = Meeting(rules.spec, 3, ("random", "random"))
    found = play(rules, BuiltIn("random"), BuiltIn("random"), 3, np.arange(4))
    with Store(path) as store:
        store.add(meeting, found)
        assert store.played(meeting) == set(range(4))
        back = store.matches(meeting, 4)
    assert num_matches(path) == 4
    for name, values in vars(found).items():
        assert getattr(back, name).tolist() == values.tolist(), name


def num_matches(path: Path) -> int:
    """Rows in the file."""
    return int(sqlite3.connect(path).execute("SELECT COUNT(*) FROM matches").fetchone()[0])


def test_a_full_disk_is_said_and_loses_nothing_finished(path: Path) -> None:
    first = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6))
    more = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6, 2000))
    with Store(path) as store:
        store.add(MEETING, first)
        pages = store._pragma("page_count")
        store._database.execute(f"PRAGMA max_page_count = {pages + 10}")
        with pytest.raises(StoreError, match=r"results\.sqlite cannot be used: .*full"):
            store.add(MEETING, more)
        assert store.played(MEETING) == set(range(6))
    with Store(path) as store:
        store.add(MEETING, more)
        assert store.matches(MEETING, 2000).lines.tolist() == [
            *first.lines.tolist(),
            *more.lines.tolist(),
        ]


def test_adding_twice_changes_nothing(path: Path) -> None:
    found = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6))
    with Store(path) as store:
        store.add(MEETING, found)
        store.add(MEETING, found)
    assert num_matches(path) == 12


def test_a_block_is_all_or_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, np.arange(6))
    rows = list(store_module._rows(1, 3, found, 0))

    def broken(*_: object) -> object:
        yield from rows[:4]
        raise KeyboardInterrupt

    with Store(path) as store:
        monkeypatch.setattr(store_module, "_rows", broken)
        with pytest.raises(KeyboardInterrupt):
            store.add(MEETING, found)
        assert list(store.rows(MEETING, MEETING.agents)) == []
        assert store.lineups() == []
        monkeypatch.undo()
        store.add(MEETING, found)
        assert len(store.played(MEETING)) == 6


def write_text(path: Path) -> None:
    path.write_text("a shopping list, longer than the header of a database, for example" * 9)


def write_foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE films (title TEXT)")


def write_newer(path: Path) -> None:
    Store(path).__exit__(None, None, None)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")


def write_older(path: Path) -> None:
    Store(path).__exit__(None, None, None)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 1")


def write_damaged(path: Path) -> None:
    with Store(path) as store:
        for start in range(0, 900, 300):
            pairs = np.arange(start, start + 300)
            found = play(TWO, BuiltIn("greedy"), BuiltIn("random"), 3, pairs)
            store.add(MEETING, found)
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
        (write_older, "schema 1, and this version reads schema 3"),
        (write_newer, "schema 99, and this version reads schema 3"),
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
        assert store.played(MEETING) == set()
