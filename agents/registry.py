"""Every agent of the lab by name, and `make_agent`, which builds one from its spec text."""

from pathlib import Path

from agents.specs import Entry, Field, path, read_spec, yes_or_no
from fives_env.policies import BuiltIn, Policy


def make_agent(spec: str) -> Policy:
    """The agent that `spec` describes.

    Args:
        spec: ``name[:value][,key=value]``, as in ``greedy`` or ``model:runs/a,sample=yes``.

    Raises:
        ValueError: One line that names the fault and says what there is.
    """
    entry, value, options = read_spec(spec, AGENTS)
    return entry.make(*(() if value is None else (value,)), **options)


def canonical(spec: str) -> str:
    """The shortest text of the same agent: two specs of one agent give the same.

    Raises:
        ValueError: As for `make_agent`; whether a model is there is not looked at.
    """
    return read_spec(spec, AGENTS).text


def _model(folder: Path, sample: bool) -> Policy:
    from agents.model import load_model  # only who plays a model needs safetensors

    return load_model(folder, sample=sample)


_ENTRIES = (
    Entry("random", "every legal action is equally likely", lambda: BuiltIn("random")),
    Entry(
        "greedy",
        "most points now; then the heavier tile; draws only where it must",
        lambda: BuiltIn("greedy"),
    ),
    Entry(
        "model",
        "a trained network (a model folder, or the run that made it): its best action, or a sample",
        _model,
        value=Field("PATH", path),
        options={"sample": Field("yes|no", yes_or_no, False)},
    ),
)

AGENTS = {entry.name: entry for entry in _ENTRIES}
"""Name -> `Entry`."""
