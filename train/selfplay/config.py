"""What a self-play run can be told."""

from dataclasses import dataclass, field

from fives_env.rules import Rules
from train.run.checks import are_widths, at_least, one_of
from train.run.settings import Ppo, Settings

DEVICES = ("auto", "cpu", "cuda")
VALUES = ("points", "equity")
CREDITS = ("side", "seat")


@dataclass(frozen=True)
class Learner(Ppo):
    """Settings of the learner; the defaults are for a quarter of an hour on two cores."""

    ent_coef: float = 0.01
    """Weight of the entropy bonus at the start; it falls to 0 along the run."""
    credit: str = "side"
    """Whose decisions share a return: side, all (their values count with their sign); seat, those
    of one seat. It ends with the round, in whole matches too."""
    advice: bool = True
    """Show the network what the rules of thumb of the agent tactic say of each action."""
    critic_hidden: tuple[int, ...] = (128, 128)
    """Widths of the critic's layers."""
    memory: int = 0
    """Size of a recurrent memory in which the policy reads the actions of the round; 0: none."""

    def __post_init__(self) -> None:
        """Refuses numbers out of range."""
        super().__post_init__()
        at_least(self, 0, "memory")
        one_of(self, "credit", CREDITS)
        are_widths(self, "critic_hidden")


@dataclass(frozen=True)
class Selfplay(Settings):
    """Trains one network that plays all seats of many games (PPO with a critic that sees all).

    A run that was stopped or killed goes on with: python -m train selfplay --resume RUN
    """

    opponents: tuple[str, ...] = ()
    """Who else sits at some of the tables, as agent specs (python -m agents lists them), and self
    for earlier snapshots of the learner. Nobody: the learner plays all seats of all games."""
    share: float = 0.25
    """The part of the games in which opponents sit, if there are any."""
    value: str = "points"
    """What rewards are: points, or equity, the chance to win the match (two sides, rules that have
    a table: python -m agents.equity lists them)."""
    device: str = "auto"
    """Of the network: cpu, cuda, or auto for cuda where there is one."""
    ray: str | None = None
    """Play on a Ray cluster: its address, or local for one that is started here. Learning stays
    here."""
    workers: int = 2
    """With --ray: how many processes play, each its part of the games."""
    learner: Learner = field(default_factory=Learner)
    """Settings of the learner."""

    def __post_init__(self) -> None:
        """Refuses what cannot be run, before anything is written."""
        super().__post_init__()
        one_of(self, "device", DEVICES)
        one_of(self, "value", VALUES)
        if Rules.from_spec(self.rules).mode == "round" and (
            self.episodes == "matches" or self.value == "equity"
        ):
            raise ValueError("mode=round has no matches: --episodes rounds and --value points fit")
        at_least(self, 1, "workers")
        if self.ray is not None and self.workers > (most := self.learner.num_envs):
            raise ValueError(f"workers={self.workers} is more than the number of games, {most}")
        if not 0 < self.share <= 1:
            raise ValueError(f"share={self.share} is not a number above 0 and up to 1")
