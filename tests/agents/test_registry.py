"""Spec texts: what they mean, and what is said about wrong ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents import AGENTS, canonical, make_agent
from agents.__main__ import main
from agents.model import ModelAgent
from agents.registry import MODELS
from agents.specs import Entry, Field, read_spec
from agents.strength import read
from fives_env.policies import BuiltIn
from tests.agents.material import random_model


def test_built_in_agents_run_in_compiled_code() -> None:
    for name in ("random", "greedy"):
        agent = make_agent(name)
        assert isinstance(agent, BuiltIn)
        assert agent.name == name


def test_a_model_is_made_from_its_folder_or_its_run(tmp_path: Path) -> None:
    random_model(tmp_path / "run" / "model", "fives-and-threes")
    for spec in (f"model:{tmp_path}/run/model", f"model:{tmp_path}/run"):
        agent = make_agent(spec)
        assert isinstance(agent, ModelAgent)
        assert not agent.sample
        sampling = make_agent(f"{spec},sample=yes")
        assert isinstance(sampling, ModelAgent)
        assert sampling.sample


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("greedy", "greedy"),
        (" random ", "random"),
        ("model:runs/a/", "model:runs/a"),
        ("model:./runs/a,sample=no", "model:runs/a"),
        ("model: runs/a , sample = yes", "model:runs/a,sample=yes"),
        ("model:C:/runs/a", "model:C:/runs/a"),
        ("tactic,off=reply + win", "tactic,off=win+reply"),
        ("pimc:064,value=points", "pimc:64"),
        ("pimc:64,value=equity", "pimc:64,value=equity"),
        ("ismcts:300,playout=random", "ismcts:300,playout=random"),
        ("ismcts:300,playout=greedy,value=equity", "ismcts:300,value=equity"),
    ],
)
def test_specs_of_one_agent_have_one_text(spec: str, text: str) -> None:
    assert canonical(spec) == text
    assert canonical(text) == text


def test_X04_shipped_models_have_names_wherever_a_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their paths are other words for the names; ./ before a name makes it a folder's."""
    name, folder = "fives-and-threes-2", MODELS / "fives-and-threes-2"
    specs = (f"model:{name}", f"model:{folder}", f"model:{os.path.relpath(folder)}/")
    assert {canonical(spec) for spec in specs} == {f"model:{name}"}
    random_model(tmp_path / name, "all-fives")
    monkeypatch.chdir(tmp_path)
    assert make_agent(f"model:{name}").card.rules.startswith("fives-and-threes")
    assert make_agent(f"model:./{name}").card.rules.startswith("all-fives")
    assert canonical(canonical(f"model:./{name}")) == f"model:./{name}"


@pytest.mark.parametrize(
    "code",
    [
        "import agents.search.pimc as a, fives_env.agents.search.pimc as b; assert a is b",
        "import fives_env.agents.search.pimc as a, agents.search.pimc as b; assert a is b",
        "import fives_env.agents as a, agents as b; assert a.make_agent is b.make_agent",
        "from fives_env.envs.single import FivesEnv; FivesEnv(opponent='pimc:4');"
        "from agents.search.pimc import Pimc; from fives_env.agents import make_agent;"
        "assert type(make_agent('pimc:4')) is Pimc",
    ],
)
def test_X04_the_agents_are_there_once_whichever_name_they_are_imported_by(code: str) -> None:
    files = "import sys; print(*{m.__file__ for n, m in sys.modules.items() if 'agents' in n})"
    count = "print(len({id(m) for n, m in sys.modules.items() if 'agents' in n}))"
    command = [sys.executable, "-c", f"{code}; {files}; {count}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found, number = done.stdout.splitlines()
    assert len(found.split()) == int(number) > 2


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            "nosuch",
            f"unknown agent 'nosuch'.*: {', '.join(AGENTS)}",
        ),
        ("greedi", "did you mean greedy?"),
        ("", "unknown agent ''"),
        (":x", "unknown agent ''"),
        ("greedy:3", "greedy takes no value; write greedy"),
        ("greedy,x=1", "greedy has no option 'x'; it takes none"),
        ("model", r"model needs a value; write model:NAME\|PATH\[,sample=yes\|no\]"),
        ("model:", "model needs a value"),
        ("model:a,sampel=yes", "no option 'sampel'; did you mean sample?"),
        ("model:a,sample=maybe", "'maybe' is not yes or no"),
        ("model:a,sample", "'sample' is not of the form key=value"),
        ("model:a,sample=yes,sample=no", "'sample' stands twice"),
        ("model:a,", "'' is not of the form key=value"),
        ("model:/nowhere/at/all", "no model in '/nowhere/at/all': it is not a folder$"),
        (
            "model:all-fives",
            "'all-fives': it is not a folder; shipped are: all-fives-2, fives-and-",
        ),
        ("careful:1", "careful takes no value; write careful"),
        ("pimc", r"pimc needs a value; write pimc:W\[,value=points\|equity\]"),
        ("pimc:-3", "'-3' is not a whole number from 1 to 10000; write pimc:W"),
        ("pimc:x", "'x' is not a whole number from 1 to 10000"),
        ("pimc:0", "'0' is not a whole number from 1"),
        ("pimc:1.5", "'1.5' is not a whole number"),
        ("pimc:²", "'²' is not a whole number"),
        ("pimc:99999999999999999999999999", "is not a whole number from 1 to 10000"),
        ("pimc:4,value=luck", "value='luck' is not one of points, equity; write pimc:W"),
        ("pimc:4,playout=random", "pimc has no option 'playout'.*there are: value"),
        ("ismcts:2000000", "is not a whole number from 1 to 1000000"),
        ("ismcts:9,playout=gredy", "playout='gredy' is not one of greedy, random"),
        ("tactic:foo=1", r"tactic takes no value; write tactic\[,off=RULE\+RULE\]"),
        ("tactic,off=nosuch", "off='nosuch' is not known; there are: win, block-win, aim, opening"),
        ("tactic,off=win+opning", "off='opning' is not known; did you mean opening?"),
        ("tactic,off=win+", "off='' is not known"),
        (3, "an agent spec is text like 'greedy', not 3"),
    ],
)
def test_a_bad_spec_is_refused_in_one_line(spec: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        make_agent(spec)
    assert "\n" not in str(caught.value)


def test_an_entry_with_a_number_reads_and_writes_it() -> None:
    entry = Entry(
        "look",
        "help",
        lambda value, depth: BuiltIn("random"),
        value=Field("N", int),
        options={"depth": Field("D", int, 1)},
    )
    assert entry.form == "look:N[,depth=D]"
    spec = read_spec("look:064,depth=2", {"look": entry})
    assert (spec.value, spec.options, spec.text) == (64, {"depth": 2}, "look:64,depth=2")


def test_the_table_lists_every_agent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    for entry in AGENTS.values():
        assert entry.name in shown
        assert entry.form in shown
        assert entry.help.split()[0] in shown


def measured(path: Path) -> Path:
    """A file as python -m eval ladder writes it."""
    row = {"agent": "tactic", "rules": "fives-and-threes:players=2,target=61", "pairs": 2000}
    row |= {"win_rate": 0.7234, "low": 0.711, "high": 0.735, "one_us": 21.43, "batch_us": 9.871}
    command, machine = "python -m eval ladder", {"processor": "a machine"}
    document = {"command": command, "opponent": "greedy", "machine": machine, "rows": [row]}
    path.write_text(json.dumps(document))
    return path


def test_the_table_shows_cost_and_strength_as_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    there = measured(tmp_path / "strength.json")
    monkeypatch.setattr("agents.strength.read", lambda: read(there))
    assert main([]) == 0
    shown = capsys.readouterr().out
    for text in ("72.3 [71.1, 73.5]", "21.4", "9.87", "against greedy", "python -m eval ladder"):
        assert text in shown


def test_the_table_says_what_is_not_measured_or_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.strength.read", lambda: read(tmp_path / "none.json"))
    assert main([]) == 0
    assert "not measured: python -m eval ladder does so" in capsys.readouterr().out
    (tmp_path / "bad.json").write_text('{"rows": [{"agent": "tactic"}]}')
    monkeypatch.setattr("agents.strength.read", lambda: read(tmp_path / "bad.json"))
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "is damaged" in said
    assert said.count("\n") == 1


def test_listing_loads_no_agent() -> None:
    code = "import sys, agents.__main__; print([m for m in sys.modules if 'agents.' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not re.search("heuristics|search|equity|model", done.stdout)


def test_the_table_takes_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["greedy"])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("error: unexpected 'greedy'")
    assert said.count("\n") == 1
    assert main(["--help"]) == 0


def test_the_lab_has_no_torch_in_its_agents() -> None:
    """Playing is cheap to start: PyTorch takes seconds to load, and only training needs it."""
    code = "import sys, agents.model, agents.__main__; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch("False\n", done.stdout)
