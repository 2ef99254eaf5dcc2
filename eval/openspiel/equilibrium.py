"""The equilibrium of a small game, by OpenSpiel's CFR+ (Tammelin 2014), and our games there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from eval.exact.game import SmallGame
from eval.exact.tree import CHANCE, END
from fives_env.envs.openspiel import load_game, pyspiel

__all__ = ["equilibrium", "gambit_text", "load_game"]

Array = npt.NDArray[Any]


def equilibrium(game: SmallGame, iterations: int, tell: Callable[[int], None]) -> Array:
    """The average policy after so many iterations of CFR+: float64 [A].

    OpenSpiel gets the tree in Gambit's format and solves it in its own compiled code. (The same
    solver on `load_game` takes the same steps, but asks Python for every position.)

    Args:
        game: The game.
        iterations: How many; the exploitability falls faster than with their number.
        tell: Called with the number of each iteration.
    """
    solver = pyspiel.CFRPlusSolver(pyspiel.load_efg_game(gambit_text(game)))
    for iteration in range(iterations):
        tell(iteration)
        solver.evaluate_and_update_policy()
    average = solver.tabular_average_policy()
    policy = np.empty(len(game.actions))
    named = zip(game.seats.tolist(), _numbers(game), strict=True)
    for info, (seat, number) in enumerate(named):
        chances = average.action_probabilities(f"{seat}-{seat}-{number}-")
        policy[game.offsets[info] : game.offsets[info + 1]] = [
            chances[index] for index in range(len(chances))
        ]
    return policy


def gambit_text(game: SmallGame) -> str:
    """The tree in Gambit's format for extensive games; an action is its place in its set."""
    return "\n".join(['EFG 2 R "fives" { "0" "1" } ""', *_lines(game)]) + "\n"


def _numbers(game: SmallGame) -> list[int]:
    """The number of each information set among those of its seat, from 1."""
    counts = [np.cumsum(game.seats == seat) for seat in range(2)]
    numbers: list[int] = np.where(game.seats == 0, *counts).tolist()
    return numbers


def _lines(game: SmallGame) -> Iterator[str]:
    nodes, numbers = game.nodes, _numbers(game)
    columns = (nodes["player"], nodes["children"], nodes["value"], game.info)
    for player, children, value, info in zip(*(each.tolist() for each in columns), strict=True):
        if player == END:
            yield f't "" 1 "" {{ {value} {-value} }}'
        elif player == CHANCE:
            outcomes = " ".join(f'"{number}" 1/{children}' for number in range(children))
            yield f'c "" 1 "" {{ {outcomes} }} 0'
        else:
            actions = " ".join(f'"{number}"' for number in range(children))
            yield f'p "" {player + 1} {numbers[info]} "" {{ {actions} }} 0'
