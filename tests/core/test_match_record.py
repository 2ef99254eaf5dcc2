"""Match records: what is written is read back, and what a replay contradicts is refused."""

import numpy as np
import pytest

from fives_env import Games, Rules
from fives_env.match_record import TITLE, MatchRecord
from fives_env.play import ask
from fives_env.policies import BuiltIn

SPECS = (
    "fives-and-threes",
    "fives-and-threes:players=4,partners=no",
    "threes-and-fives:players=3,draw=optional",
    "all-fives:players=4",
    "all-fives:mode=round,max_pip=3",
    "threes-and-fives:max_rounds=2",
)
DECK = list(range(27, -1, -1))


def played(record: MatchRecord, most: int = 10_000) -> MatchRecord:
    """The record with random actions, to the end of the match."""
    games = record.replay()
    actions = []
    while not games.data["match_over"][0] and len(actions) < most:
        actions.append(int(ask(BuiltIn("random"), games)[0]))
        games.step(actions[-1:])
    return MatchRecord(
        record.rules, record.seed, tuple(actions), record.rounds, record.start, record.seats
    )


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_round_trip(spec: str, seed: int) -> None:
    record = played(MatchRecord(Rules.from_spec(spec), seed, ()))
    back = MatchRecord.from_text(record.text)
    assert back == record
    assert back.text == record.text
    games = Games(spec)
    games.reset(seed=seed)
    for action in record.actions:
        games.step([action])
    assert back.replay().data.tobytes() == games.data.tobytes()


def test_scripted_rounds_start_scores_and_names_round_trip() -> None:
    record = played(
        MatchRecord(
            Rules.preset("fives-and-threes"),
            7,
            (),
            rounds=({"leader": 1}, {"deck": DECK}, {"deck": DECK[::-1], "leader": 0}),
            start=(50, 12),
            seats=("model:runs/a,sample=yes", "greedy"),
        )
    )
    assert "seats: model:runs/a,sample=yes | greedy\nstart: 50, 12\nleader 1: 1\n" in record.text
    assert MatchRecord.from_text(record.text) == record


def test_it_reads_like_a_match() -> None:
    """One round of a known deal: the points, the refused event and the end are said."""
    record = MatchRecord(Rules.preset("fives-and-threes"), 1, (), ({"deck": DECK, "leader": 0},))
    lines = played(record).text.splitlines()
    assert lines[0] == TITLE
    assert lines[1] == "rules: fives-and-threes:players=2,target=61"
    assert lines[2] == "seed: 1"
    assert lines[3].startswith("deck 1: 6|6 5|6 5|5 4|6")
    assert lines[4] == "leader 1: 0"
    assert lines[5].startswith("round 1: 0 ")
    assert " +" in lines[5]
    assert "knock" in "".join(lines)
    assert lines[5].endswith(("; out", "; blocked"))
    assert lines[-2].startswith("scores: ")
    assert lines[-1] in ("end: side 0 wins", "end: side 1 wins")


def test_refused_events_and_settlements_are_said() -> None:
    close = Rules.preset("fives-and-threes")
    texts = [played(MatchRecord(close, seed, (), start=(60, 60))).text for seed in range(9)]
    assert any(" refused, " in text for text in texts)
    settled = played(MatchRecord(Rules.preset("all-fives", mode="round"), 3, ())).text
    assert ", settled " in settled
    assert settled.endswith("end: no winner\n")
    short = MatchRecord(Rules.preset("threes-and-fives", max_rounds=1), 3, ())
    assert played(short).text.endswith("end: truncated\n")


def test_a_match_that_is_not_over() -> None:
    record = played(MatchRecord(Rules.preset("all-fives"), 4, ()), most=5)
    assert record.text.endswith("end: not over\n")
    assert MatchRecord.from_text(record.text) == record
    nothing = MatchRecord(Rules.preset("all-fives"), 4, ())
    assert MatchRecord.from_text(nothing.text) == nothing


RECORD = played(MatchRecord(Rules.preset("fives-and-threes"), 5, ()))
LINES = RECORD.text.splitlines()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (TITLE, "PGN", "not a match record: its first line must be"),
        ("seed: 5", "seed: five", "'five' in the match record is not a whole number"),
        ("seed: 5", "seed: 6", "illegal|replay gives"),
        ("seed: 5\n", "", "has no line seed"),
        ("rules: fives", "rules: sixes", "unknown game"),
        ("round 1: ", "round 1: x, ", "'x' is not a move; write the seat and the action"),
        ("round 1: ", "round 1: 0 9|9>1, ", "not a tile"),
        ("end: side", "end: Side", "line .* is 'end: Side .*', and a replay gives 'end: side"),
        ("scores: ", "scores: 1", "line .* is 'scores: 1"),
        ("seed: 5", "seed: 5\nreferee: nobody", "line 4 is 'referee: nobody'"),
        ("seed: 5", "seed: 5\nnothing", "'nothing' is not of the form name: value"),
        ("round 2: ", "round 3: ", "replay gives|illegal"),
    ],
)
def test_what_a_replay_contradicts_is_refused(old: str, new: str, message: str) -> None:
    assert old in RECORD.text
    with pytest.raises(ValueError, match=message):
        MatchRecord.from_text(RECORD.text.replace(old, new, 1))


def test_a_changed_move_is_refused() -> None:
    actions = np.array(RECORD.actions)
    at = int(np.flatnonzero(actions < 112)[3])
    wrong = MatchRecord(RECORD.rules, RECORD.seed, (*RECORD.actions[:at], 113))
    with pytest.raises(ValueError, match="illegal"):
        wrong.replay()
    with pytest.raises(ValueError, match="illegal"):
        _ = wrong.text
