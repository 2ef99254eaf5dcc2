"""From a game to what one seat may know of it."""

from fives_env.jit import jit
from fives_env.records import PUBLIC_WORDS
from fives_env.tiles import NO_TILE


@jit
def write_view(game, game_words, viewer, view, view_words):
    """Fills `view` for seat `viewer`: the public block as it is, and the viewer's own part.

    The words are the records once more, as uint64 [N]: the public block is copied by words.
    """
    for word in range(PUBLIC_WORDS):
        view_words[word] = game_words[word]
    view.hand = game.hands[viewer]
    view.viewer = viewer
    leads = game.played == 0 and viewer == game.leader
    view.lead_tile = game.lead_tile if leads else NO_TILE


@jit
def write_rules(params, rules):
    """Copies PARAMS into a view."""
    rules.set = params.set
    rules.target = params.target
    rules.max_rounds = params.max_rounds
    rules.game = params.game
    rules.num_players = params.num_players
    rules.num_sides = params.num_sides
    rules.partners = params.partners
    rules.hand_size = params.hand_size
    rules.draw = params.draw
    rules.reserve = params.reserve
    rules.spinner = params.spinner
    rules.lead = params.lead
    rules.check_at_round_end = params.check_at_round_end
    rules.single_round = params.single_round
    rules.num_tiles = params.num_tiles
