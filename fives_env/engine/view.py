"""From a game to what one seat may know of it."""

from fives_env.jit import jit_inline
from fives_env.records import PUBLIC_WORDS, RULES_WORDS
from fives_env.tiles import NO_TILE


@jit_inline
def write_view(params_words, game, game_words, viewer, view, view_words):
    """Fills `view` for seat `viewer`: the public block and the rules, and the viewer's own part.

    The words are the records once more, as uint64 [N]: what is copied whole is copied by words.
    """
    for word in range(PUBLIC_WORDS):
        view_words[word] = game_words[word]
    for word in range(RULES_WORDS):
        view_words[PUBLIC_WORDS + word] = params_words[word]
    view.hand = game.hands[viewer]
    view.viewer = viewer
    leads = game.played == 0 and viewer == game.leader
    view.lead_tile = game.lead_tile if leads else NO_TILE
