"""From a game to what one seat may know of it."""

from fives_env.engine.memory import copy_bytes, copy_public
from fives_env.jit import jit_inline
from fives_env.records import PARAMS
from fives_env.tiles import NO_TILE

_RULES_BYTES = PARAMS.itemsize


@jit_inline
def write_view(params, game, viewer, view):
    """Fills `view` for seat `viewer`: the public block and the rules, and the viewer's own part."""
    copy_public(view, game)
    copy_bytes(view.rules, 0, params, 0, _RULES_BYTES)
    view.hand = game.hands[viewer]
    view.viewer = viewer
    leads = game.played == 0 and viewer == game.leader
    view.lead_tile = game.lead_tile if leads else NO_TILE
