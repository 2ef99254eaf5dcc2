"""A new agent, or kind of network, is one entry: whoever lists or measures them finds it there."""

import json
from pathlib import Path

import numpy as np
import pytest

from agents import AGENTS, Entry
from agents.__main__ import main
from agents.cards import NETWORKS
from agents.model import load_model, save_model
from agents.network import Network
from agents.onnx_export import to_onnx
from agents.registry import canonical, specs
from eval.commands import Benchmark, Ladder
from eval.ladder import command as ladder
from eval.ladder import plot
from eval.speed.workloads.agents import agent_workloads
from fives_env.rules import Rules
from tests.agents import test_contract as contract
from tests.agents.material import ALL_RULES, Array, positions, random_card, random_network
from train.run.init import trained_model

RULES = "fives-and-threes"


class Last:
    """Plays the last legal action."""

    def act(self, views: Array, masks: Array, keys: Array) -> Array:
        return np.asarray(masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1))


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entry of an agent that somebody has just written."""
    monkeypatch.setitem(AGENTS, "toy", Entry("toy", "the last legal action", Last))


def test_a_new_agent_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "the last legal action" in capsys.readouterr().out


def test_a_new_agent_climbs_the_ladder_and_is_in_its_picture(tmp_path: Path) -> None:
    assert Ladder().agents == (*specs("ladder")[:-1], "toy")
    paths = {"json": tmp_path / "s.json", "plot": tmp_path / "l.png"}
    ladder.run(Ladder(agents=("greedy", "toy"), rules=(RULES,), pairs=2, **paths))
    document = json.loads(paths["json"].read_text())
    assert [row["agent"] for row in document["rows"]] == ["greedy", "toy"]
    (legend,) = plot.ladder(document).legends
    assert [text.get_text() for text in legend.get_texts()] == ["rules of thumb", "equal strength"]


def test_a_family_of_its_own_has_its_place_in_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many families there are: colors come again then."""
    for number in range(4):
        entry = Entry(f"toy{number}", "", Last, family=f"family {number}")
        monkeypatch.setitem(AGENTS, entry.name, entry)
    share = {"even": 0.5, "win_rate": 0.5, "low": 0.4, "high": 0.6, "one_us": 10.0}
    rows = [{"agent": f"toy{at}", "rules": RULES, **share} for at in (3, 0)]
    (legend,) = plot.ladder({"rows": rows}).legends
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == ["family 0", "family 3", "equal strength"]


def test_a_new_agent_is_timed() -> None:
    assert Benchmark().agents == (*specs("timed")[:-1], "toy")
    found, errors = agent_workloads(["toy"])
    assert [work.what for work in found] == ["decision of toy"] * 3
    assert errors == []


def test_a_new_agent_is_held_to_the_contract(tmp_path: Path) -> None:
    everywhere = ALL_RULES + contract.VARIANTS
    assert [case for case in contract.cases(everywhere) if case[0] == "toy"] == [
        ("toy", rules) for rules in everywhere
    ]
    contract.test_a_row_acts_alone("toy", RULES, tmp_path)


def test_a_search_is_timed_by_what_it_makes() -> None:
    """The last of the specs that are timed, which has the most to do."""
    found, errors = agent_workloads(["pimc:16", "pimc:64"])
    assert [(work.what, work.unit) for work in found[6:]] == [("search of pimc:64", "worlds/s")]
    assert errors == []


class Contrary(Network):
    """Likes least what another likes best."""

    KINDS = ("contrary-points", "contrary-advice")
    NO_ONNX = "nobody should have it"
    NO_INIT = "is too contrary"

    def logits(self, inputs: Array) -> Array:
        return -super().logits(inputs)


def test_a_new_kind_of_network_is_saved_loaded_played_and_refused_where_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(NETWORKS, Contrary.KINDS[0], Contrary)
    assert f"model:{Contrary.KINDS[0]}" in contract.tried()
    plain = random_network()
    network, arguments = Contrary.from_tensors(plain.tensors()), positions(RULES)
    save_model(tmp_path, network, random_card(RULES, network))
    agent = load_model(tmp_path)
    inputs = agent.inputs(arguments[0])
    assert agent.network.logits(inputs).tobytes() == (-plain.logits(inputs)).tobytes()
    assert arguments[1][np.arange(len(inputs)), agent.act(*arguments)].all()
    with pytest.raises(ValueError, match="nobody should have it"):
        to_onnx(agent.network, agent.card)
    with pytest.raises(ValueError, match=f"--init model:{tmp_path} is too contrary"):
        trained_model(f"model:{tmp_path}", Rules.from_spec(RULES))


@pytest.mark.parametrize("spec", sorted({*specs("tried"), *specs("ladder"), *specs("timed")}))
def test_what_an_entry_says_is_a_spec_in_its_shortest_text(spec: str) -> None:
    assert canonical(spec) == spec
