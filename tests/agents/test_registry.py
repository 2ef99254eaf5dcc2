"""Spec texts: what they mean, and what is said about wrong ones."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents import AGENTS, canonical, make_agent
from agents.__main__ import main
from agents.model import ModelAgent
from agents.specs import Entry, Field, read_spec
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
    ],
)
def test_specs_of_one_agent_have_one_text(spec: str, text: str) -> None:
    assert canonical(spec) == text
    assert canonical(text) == text


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nosuch", "unknown agent 'nosuch'.*there are: random, greedy, model"),
        ("greedi", "did you mean greedy?"),
        ("", "unknown agent ''"),
        (":x", "unknown agent ''"),
        ("greedy:3", "greedy takes no value; write greedy"),
        ("greedy,x=1", "greedy has no option 'x'; it takes none"),
        ("model", r"model needs a value; write model:PATH\[,sample=yes\|no\]"),
        ("model:", "model needs a value"),
        ("model:a,sampel=yes", "no option 'sampel'; did you mean sample?"),
        ("model:a,sample=maybe", "'maybe' is not yes or no"),
        ("model:a,sample", "'sample' is not of the form key=value"),
        ("model:a,sample=yes,sample=no", "'sample' stands twice"),
        ("model:a,", "'' is not of the form key=value"),
        ("model:/nowhere/at/all", "no model in '/nowhere/at/all': it is not a folder"),
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


def test_the_table_takes_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["greedy"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: unexpected 'greedy'")
    assert said.count("\n") == 1
    assert main(["--help"]) == 0


def test_the_lab_has_no_torch_in_its_agents() -> None:
    """Playing is cheap to start: PyTorch takes seconds to load, and only training needs it."""
    code = "import sys, agents.model, agents.__main__; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch("False\n", done.stdout)
