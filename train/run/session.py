"""A run from its beginning to its end: all that happens beside learning, for every trainer.

Read from top to bottom: a run begins or goes on (`run`), and trains until the clock or somebody
says stop (`_train`); on the way the agent joins its league, is measured and saved.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, Self, TypeVar

import numpy.typing as npt

from agents import make_agent
from agents.cards import Card
from agents.model import ModelAgent, save_model
from agents.network import Network
from eval.arena import paired as arena
from eval.matches import Matches
from fives_env.rules import Rules
from fives_env.salts import read_salt
from train.run.checkpoint import read_checkpoint, write_checkpoint
from train.run.clock import Clock
from train.run.config_file import read_settings
from train.run.evaluation import describe, measure
from train.run.folder import RunFolder, check_new, only_begun
from train.run.init import trained_model
from train.run.metrics import Metrics
from train.run.plots import draw_speed, draw_strength
from train.run.pool import canonical_opponents
from train.run.progress import ProgressBar
from train.run.seeds import derive
from train.run.settings import Resume, Settings
from train.run.stopping import Interruption

Array = npt.NDArray[Any]
Facts = dict[str, Any]
"""What JSON can hold."""
Kind = TypeVar("Kind", bound=Settings)


class Trainer(Protocol):
    """What learns; made from its settings, with random weights, and entered while it learns.

    Attributes:
        config: The settings.
        clock: Seconds and decisions so far.
        league: Whom it meets, a train.league.league.League; None for nobody.
        rules: By which it is measured.
        measured_against: Agents.
        algorithm: What it does, for the model's card.
    """

    config: Any
    clock: Clock
    league: Any
    rules: Rules
    measured_against: tuple[str, ...]
    algorithm: str

    def __enter__(self) -> Self:
        """Takes what it needs while it learns."""
        return self

    def __exit__(self, *error: object) -> None:
        """Lets go of it."""

    def begin(self, log: logging.Logger, new: bool) -> None:
        """Compiles what is to be compiled, and deals the first games of a new run."""

    def update(self) -> dict[str, float]:
        """Plays and learns once, and counts the decisions; what there is to log."""

    def agent(self) -> Network:
        """The network as it is now, for an agent."""

    def adopt(self, network: Network) -> None:
        """The inverse, before a run begins; a ValueError says what does not fit."""

    def in_play(self) -> Array:
        """The league's slots in games that are not over, of any shape."""

    def capture(self) -> tuple[dict[str, Array], Facts]:
        """Everything that decides how it goes on but clock and league."""

    def restore(self, arrays: dict[str, Array], facts: Facts) -> None:
        """Puts it back into a new one of the same settings; a ValueError says what is wrong."""

    def play(self, *match: Any) -> Matches:
        """As `eval.arena.paired.play`."""
        return arena.play(*match)


Make = Callable[[Any, Facts | None], Trainer]
"""From settings, and the state of the league if the run goes on."""


@dataclass
class Session:
    """A run in this process.

    Attributes:
        trainer: What learns.
        folder: Where the run is written to.
        strength: The rows of the last evaluation.
        evaluated_at: Seconds on the clock then.
    """

    trainer: Trainer
    folder: RunFolder
    strength: list[dict[str, Any]] = field(default_factory=list)
    evaluated_at: float = 0.0


def run(make: Make, kind: type[Kind], options: Kind | Resume) -> int:
    """Trains as told, or goes on with a run, and leaves a run folder with the model.

    Returns:
        The exit code: 0, or 130 after Ctrl-C; the model and a checkpoint are saved in both cases.

    Raises:
        ValueError: The settings or the run folder cannot be used; or there is no run to go on
            with, or its checkpoint is damaged, of other settings or another version.
    """
    if not isinstance(options, Resume):
        return _begin(make, options)
    config = options.limited(read_settings(kind, options.resume))
    if only_begun(config.out):  # killed before there was anything to go on from
        return _begin(make, config)
    return _go_on(make, config, options)


def _begin(make: Make, config: Settings) -> int:
    check_new(config.out)
    config = replace(config, salt=read_salt(config.salt))
    trainer = make(config, None)
    if config.init is not None:
        model = trained_model(config.init, Rules.from_spec(config.rules))
        try:
            trainer.adopt(model.network)
        except ValueError as error:
            raise ValueError(f"--init {config.init}: {error}") from None
    with trainer, RunFolder(config.out, config) as folder:
        return _train(Session(trainer, folder), new=True)


def _go_on(make: Make, config: Settings, order: Resume) -> int:
    arrays, facts = read_checkpoint(config.out, config)
    trainer = make(config, facts["league"])
    trainer.clock.restore(facts["clock"])
    told = order.extend(trainer.clock, facts["settings"], config)
    if facts["done"] and not told:
        print(f"{config.out} is done; --minutes or --decisions would take it further")
        return 0
    trainer.restore(arrays, facts)
    reopened = RunFolder.reopen(config.out, config, trainer.clock.decisions)
    with trainer, reopened as folder:
        if told:
            folder.log.info("%s", told)
            print(told)
        session = Session(trainer, folder, facts["strength"], facts["evaluated_at"])
        return _train(session, new=False)


def _train(session: Session, new: bool) -> int:
    """Trains until the clock or somebody says stop; the exit code."""
    trainer, folder = session.trainer, session.folder
    config, clock = trainer.config, trainer.clock
    _log_settings(folder.log, config)
    metrics = Metrics(folder.path, clock.decisions)
    update_took = 0.0
    with Interruption() as interruption, ProgressBar(clock) as bar:
        _add_snapshot(session)
        trainer.begin(folder.log, new)
        if new:
            _evaluate(session, metrics, bar, config.pairs)
            _save(session)
        clock.start()
        saved_at = clock.seconds
        while not (interruption.asked or clock.ends_within(update_took / 2)):
            began = time.monotonic()
            numbers = _update(trainer)
            metrics.add(numbers)
            bar.update(numbers)
            _add_snapshot(session)
            update_took = time.monotonic() - began
            if clock.seconds - session.evaluated_at >= config.evaluate_every:
                _evaluate(session, metrics, bar, config.pairs)
            if clock.seconds - saved_at >= config.checkpoint_every:
                saved_at = clock.seconds
                _save(session)
        clock.stop()
        done = not interruption.asked
        if done:
            _evaluate(session, metrics, bar, config.final_pairs)
        _save(session, done)
    metrics.close()
    draw_strength(folder.path)
    draw_speed(folder.path)
    strength = describe(session.strength)
    summary = f"{clock.decisions:,} decisions in {clock.seconds:.0f} s, {strength}"
    folder.log.info("%s after %s", "done" if done else "interrupted", summary)
    print(f"{summary}; play it as model:{config.out}")
    return 0 if done else interruption.exit_code


def _log_settings(log: logging.Logger, config: Settings) -> None:
    known = canonical_opponents(config.opponents) if config.opponents else ["itself"]
    log.info("training on %s against %s", config.rules, " ".join(known))
    log.info(
        "actions: learner sample, snapshots %s, evaluations %s; other opponents as they are named",
        config.pool.actions,
        config.evaluation,
    )


def _update(trainer: Trainer) -> dict[str, float]:
    """Plays and learns once; the numbers of progress.csv."""
    clock, began, before = trainer.clock, time.monotonic(), trainer.clock.decisions
    rate = trainer.config.learner.learning_rate * clock.anneal()
    numbers = trainer.update()
    per_second = (clock.decisions - before) / (time.monotonic() - began)
    counts = {"decisions": clock.decisions, "seconds": clock.seconds, "per_second": per_second}
    return {**counts, "learning_rate": rate, **numbers}


def _add_snapshot(session: Session) -> None:
    """Adds the agent as it is now to the league, where one is due."""
    trainer, decisions = session.trainer, session.trainer.clock.decisions
    if trainer.league is not None and trainer.league.due(decisions):
        name = trainer.league.add(*_model(session), trainer.in_play())
        if name is not None:  # else it is added later
            session.folder.log.info("added %s at %s", name, f"{decisions:,}")


def _evaluate(session: Session, metrics: Metrics, bar: ProgressBar, pairs: int) -> None:
    """Measures the agent in whole matches against those that it is measured against."""
    trainer, folder = session.trainer, session.folder
    config, clock = trainer.config, trainer.clock
    session.evaluated_at = clock.seconds
    agent = ModelAgent(*_model(session), config.evaluation == "sample")
    seed = derive(config.seed, "evaluation")
    rows = []
    for name in trainer.measured_against:
        opponent = make_agent(name)
        numbers = measure(trainer.rules, agent, opponent, seed, pairs, config.salt, trainer.play)
        at = {"decisions": clock.decisions, "seconds": round(clock.seconds, 1), "opponent": name}
        rows.append({**at, **numbers})
        folder.add_evaluation(rows[-1])
        for what in ("win_rate", "points_per_round"):
            metrics.show(f"strength/{what}_{name}", numbers[what], clock.decisions)
        bar.update({name: numbers["win_rate"], "points": numbers["points_per_round"]})
    session.strength = rows
    if trainer.league is not None:
        folder.log.info("met: %s", trainer.league.summary)


def _save(session: Session, done: bool = False) -> None:
    """Writes the model, and the checkpoint: everything that decides how the run goes on."""
    trainer, folder = session.trainer, session.folder
    save_model(folder.model, *_model(session))
    arrays, facts = trainer.capture()
    facts |= {
        "clock": trainer.clock.state(),
        "league": None if trainer.league is None else trainer.league.state(),
        "strength": session.strength,
        "evaluated_at": session.evaluated_at,
        "done": done,
    }
    write_checkpoint(folder.path, arrays, facts, trainer.config)
    if trainer.league is not None:
        trainer.league.save()  # behind the checkpoint, which may need what is taken away now


def _model(session: Session) -> tuple[Network, Card]:
    """The agent as it is now."""
    trainer, config, clock = session.trainer, session.trainer.config, session.trainer.clock
    network = trainer.agent()
    training = {
        "algorithm": trainer.algorithm,
        "decisions": clock.decisions,
        "seconds": round(clock.seconds, 1),
        "settings": {**asdict(config), "out": str(config.out)},
    }
    spec = Rules.from_spec(config.rules).spec
    return network, Card(spec, network.shape, training, session.folder.versions, session.strength)
