"""`Rules`: which of the three games is played, by how many, with which options, and its text form.

Rule ids (F12, T9, ...) are those of seeds/RULES.md.
"""

import difflib
import operator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

from fives_env.tiles import tiles_up_to

MAX_TARGET = 10_000
MIN_SCORE = -1_000
"""The lowest score a match may start from."""
MAX_ROUNDS = 10_000
MAX_ROUNDS_ALL_FIVES = 180
"""A8 can take 170 points a round, and scores are kept in 16 bits."""

CHOICES = {
    "draw": ("none", "forced", "optional"),
    "spinner": ("first-double", "none"),
    "lead": ("rotation", "winner", "highest-double"),
    "target_check": ("immediate", "round-end"),
    "mode": ("match", "round"),
}


class Preset(NamedTuple):
    """What one of the three games says by itself; tuples are for two, three and four players."""

    title: str
    deal: tuple[int, int, int]
    target: tuple[int, int, int]
    four_are_partners: bool
    draw: str
    spinner: str
    lead: str


PRESETS = {
    "fives-and-threes": Preset(
        "Fives and Threes", (7, 5, 5), (61, 61, 61), True, "none", "none", "rotation"
    ),
    "threes-and-fives": Preset(
        "Threes and Fives", (7, 5, 5), (251, 251, 251), False, "forced", "first-double", "rotation"
    ),
    "all-fives": Preset(
        "All Fives", (9, 7, 5), (250, 200, 200), True, "forced", "first-double", "winner"
    ),
}

_BY_PRESET: Any = None  # a field left at this takes the preset's value


@dataclass(frozen=True)
class Rules:
    """The rules of one game: a preset with its options, checked and complete.

    Every field holds its final value after construction (`deal` is the number of tiles each seat
    gets, `reserve` a number of tiles). Two `Rules` that play alike are equal.

    Attributes:
        game: The preset: ``fives-and-threes``, ``threes-and-fives`` or ``all-fives``.
        players: 2, 3 or 4.
        partners: Seats 0+2 against 1+3 (C9); four players only. Default by D15.
        deal: Tiles for each seat: one number, or three, for two, three and four players
            (F1, T1, T9, T10, A1, A2). For a small set the default shrinks with the set.
        draw: ``none`` (F2), ``forced`` (T3, A4) or ``optional`` (T13).
        reserve: Boneyard tiles that are never drawn; True is 2 for two players, else 1 (T12).
        spinner: ``first-double`` (T5, A5) or ``none`` (F4, D5).
        lead: Who leads later rounds: ``rotation`` (F3, D1) or ``winner`` (A3); or
            ``highest-double`` for every round (T11, D4).
        target: The score that wins (F12, T8, A9, D11). Exact in fives-and-threes.
        target_check: ``immediate`` or ``round-end`` (D2).
        max_rounds: A match without a winner by then is truncated (D6).
        mode: ``match``, or ``round``: one round is the whole game (D7).
        max_pip: The set has the tiles with both halves at most this, 1 to 6.

    Raises:
        ValueError: An option is unknown or out of range, or two of them clash; the message names
            them and what would be right.
    """

    game: str
    players: int = 2
    partners: bool = _BY_PRESET
    target: int = _BY_PRESET
    deal: int = _BY_PRESET
    draw: str = _BY_PRESET
    reserve: int = 0
    spinner: str = _BY_PRESET
    lead: str = _BY_PRESET
    target_check: str = "immediate"
    max_rounds: int = 100
    mode: str = "match"
    max_pip: int = 6

    def __post_init__(self) -> None:
        """Fills in what the preset says, then refuses what is out of range or clashes."""
        preset = _preset(self.game)
        self._set("players", _whole("players", self.players, 2, 4))
        self._set("max_pip", _whole("max_pip", self.max_pip, 1, 6))
        for name, value in preset._asdict().items():
            if name in CHOICES and getattr(self, name) is None:
                self._set(name, value)
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)} is not one of {', '.join(choices)}")
        self._set_partners(preset)
        self._set_target(preset)
        self._set_deal(preset)
        self._set_reserve()
        most = MAX_ROUNDS_ALL_FIVES if self.game == "all-fives" else MAX_ROUNDS
        self._set("max_rounds", _whole("max_rounds", self.max_rounds, 1, most))
        self._refuse_what_the_game_excludes()

    @classmethod
    def preset(cls, game: str, **options: Any) -> Self:
        """The preset `game` with these options.

        Raises:
            ValueError: As for the class; an unknown option is named beside those that exist.
        """
        known = [field.name for field in fields(cls) if field.name != "game"]
        for name in options:
            if name not in known:
                raise ValueError(f"unknown option {name!r}{_nearest(name, known)}")
        return cls(game, **options)

    @classmethod
    def from_spec(cls, spec: str) -> Self:
        """Reads the text form, as in ``all-fives:players=4,partners=yes,target=200``.

        Raises:
            ValueError: As for the class, or the text is not of this form.
        """
        if not isinstance(spec, str):
            raise ValueError(f"a rules spec is text like 'all-fives:players=4', not {spec!r}")
        game, colon, rest = spec.strip().partition(":")
        options: dict[str, Any] = {}
        for part in rest.split(",") if colon else []:
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not name or not value:
                raise ValueError(f"{part!r} in rules {spec!r} is not of the form option=value")
            if name in options or name == "game":
                raise ValueError(f"option {name!r} stands twice in rules {spec!r}")
            options[name] = _parse_value(name, value)
        return cls.preset(game.strip(), **options)

    @property
    def spec(self) -> str:
        """The text form: what depends on the number of players, then what the preset does not say.

        ``Rules.from_spec(rules.spec) == rules``.
        """
        plain = Rules(self.game, players=self.players, max_pip=self.max_pip)
        always = {"players", "target"}
        always |= {"partners"} if self.players == 4 else set()
        always |= {"max_pip"} if self.max_pip != 6 else set()
        shown = {
            field.name: getattr(self, field.name)
            for field in fields(self)[1:]
            if field.name in always or getattr(self, field.name) != getattr(plain, field.name)
        }
        return f"{self.game}:" + ",".join(f"{k}={_value_text(v)}" for k, v in shown.items())

    @property
    def title(self) -> str:
        """The game's name as people write it."""
        return PRESETS[self.game].title

    @property
    def num_sides(self) -> int:
        """How many score: 2 with partners, else one for each player."""
        return 2 if self.partners else self.players

    @property
    def num_tiles(self) -> int:
        """The size of the set: 28 for a double-six set."""
        return len(tiles_up_to(self.max_pip))

    @property
    def exact(self) -> bool:
        """Whether the target must be met exactly (F12)."""
        return self.game == "fives-and-threes"

    def side_of(self, seat: int) -> int:
        """The side that `seat` plays for (C9)."""
        return seat % 2 if self.partners else seat

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _set_partners(self, preset: Preset) -> None:
        if self.partners is None:
            self._set("partners", self.players == 4 and preset.four_are_partners)
        elif not isinstance(self.partners, bool):
            raise ValueError(f"partners={self.partners!r} is not yes or no (True or False)")
        if self.partners and self.players != 4:
            raise ValueError(
                f"partners=yes clashes with players={self.players}: partners need four players (C9)"
            )

    def _set_target(self, preset: Preset) -> None:
        if self.target is None:
            self._set("target", preset.target[self.players - 2])
        self._set("target", _whole("target", self.target, 1, MAX_TARGET))

    def _set_deal(self, preset: Preset) -> None:
        if self.players > self.num_tiles:
            raise ValueError(
                f"players={self.players} clashes with max_pip={self.max_pip}: "
                f"the set has {self.num_tiles} tiles"
            )
        deal: Any = self.deal
        if deal is None:
            deal = max(1, preset.deal[self.players - 2] * self.num_tiles // 28)
        elif isinstance(deal, tuple | list):
            if len(deal) != 3:
                raise ValueError(
                    f"deal={deal!r} must be one number, or three: for two, three and four players"
                )
            deal = [_whole("deal", number, 1, 28) for number in deal][self.players - 2]
        self._set("deal", _whole("deal", deal, 1, 28))
        if self.deal * self.players > self.num_tiles:
            raise ValueError(
                f"deal={self.deal} clashes with players={self.players}: that takes "
                f"{self.deal * self.players} tiles and the set (max_pip={self.max_pip}) "
                f"has {self.num_tiles}"
            )

    def _set_reserve(self) -> None:
        if self.reserve is True:
            self._set("reserve", 2 if self.players == 2 else 1)
        elif self.reserve is False:
            self._set("reserve", 0)
        self._set("reserve", _whole("reserve", self.reserve, 0, 28))
        if self.reserve and self.draw == "none":
            raise ValueError(
                f"reserve={self.reserve} clashes with draw=none: nothing is drawn in {self.game}"
            )
        boneyard = self.num_tiles - self.deal * self.players
        if self.reserve > boneyard:
            raise ValueError(
                f"reserve={self.reserve} clashes with deal={self.deal} for "
                f"players={self.players}: the boneyard has {boneyard} tiles"
            )

    def _refuse_what_the_game_excludes(self) -> None:
        draws = PRESETS[self.game].draw != "none"
        if draws and self.draw == "none":
            raise ValueError(
                f"draw=none clashes with {self.game}: a seat that cannot place draws (T3, A4); "
                "use forced or optional"
            )
        if not draws and self.draw != "none":
            raise ValueError(f"draw={self.draw} clashes with {self.game}: no drawing at all (F2)")
        if self.game == "fives-and-threes" and self.spinner != "none":
            raise ValueError(f"spinner={self.spinner} clashes with {self.game}: no spinner (F4)")
        if self.exact and self.target_check == "round-end":
            raise ValueError(
                f"target_check=round-end clashes with the exact target of {self.game}: "
                "reaching it wins at once (D14, F13)"
            )


def as_rules(rules: "Rules | str") -> Rules:
    """`rules` itself, or the `Rules` that a spec text describes."""
    return rules if isinstance(rules, Rules) else Rules.from_spec(rules)


def _preset(game: str) -> Preset:
    if not isinstance(game, str) or game not in PRESETS:
        raise ValueError(f"unknown game {game!r}{_nearest(str(game), list(PRESETS))}")
    return PRESETS[game]


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return (f"; did you mean {near[0]}?" if near else ";") + f" there are: {', '.join(known)}"


def _whole(name: str, value: Any, low: int, high: int) -> int:
    """`value` as an int from `low` to `high`; bools and floats are not numbers of things."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise ValueError(f"{name}={value!r} is not a whole number from {low} to {high}")
    return number


def _parse_value(name: str, value: str) -> Any:
    if value in ("yes", "no") and name in ("partners", "reserve"):
        return value == "yes"
    if name in CHOICES or name == "partners":
        return value
    numbers = [
        int(part) if part.isascii() and part.isdigit() else None for part in value.split("/")
    ]
    if None in numbers or (len(numbers) > 1 and name != "deal"):
        return value
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def _value_text(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
