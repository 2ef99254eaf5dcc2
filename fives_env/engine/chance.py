# mypy: allow-untyped-defs
# (compiled functions take records, which have no static type)
"""Deals and draws that are chosen from outside, for whoever walks all of them."""

import numpy as np

from fives_env.actions import DRAW
from fives_env.engine import turns
from fives_env.engine.rewards import add_rewards
from fives_env.jit import jit, jit_part


@jit
def start_deals(params, games, decks, leaders, script, start):
    """Deals decks uint8 [D, tiles] with leaders int8 [D] to GAME [D]; SCRIPT [1] is worked in."""
    script[0].has_deck = 1
    for row in range(len(games)):
        script[0].leader = leaders[row]
        for position in range(decks.shape[1]):
            script[0].deck[position] = decks[row, position]
        turns.start_match(params[0], games[row], script, start[0], np.uint64(0))


@jit
def deal_round(params, games, script):
    """Deals the next round of the one game as scripted; SCRIPT [R] reaches that far."""
    turns.start_round(params[0], games[0], script)


@jit_part
def draw(params, game, choice):
    """Draws the tile that lies `choice` behind the next one; all orders are equally likely."""
    top = game.next_draw
    tile = game.deck[top]
    game.deck[top] = game.deck[top + choice]
    game.deck[top + choice] = tile
    turns.act(params, game, DRAW)


@jit
def play(params, games, action, choice, reward, rewards):
    """Plays one legal action of the one game and adds every seat's rewards, float64 [4].

    A draw takes the tile that lies `choice` behind the next one.
    """
    if action == DRAW:
        draw(params[0], games[0], choice)
    else:
        turns.act(params[0], games[0], action)
    add_rewards(params[0], games[0], reward, rewards)
