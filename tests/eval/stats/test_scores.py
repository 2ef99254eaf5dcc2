"""Scores of agents, seats and places: on matches made up, and on matches that were played."""

from dataclasses import replace

import numpy as np
import pytest

from eval.stats.scores import (
    agent_shares,
    leads,
    match_shares,
    place_shares,
    score,
    side_shares,
    table_score,
)
from eval.stats.seats import seats
from tests.eval.stats import synthetic
from tests.eval.stats.synthetic import RULES


@pytest.mark.parametrize("num_sides", [2, 3, 4])
def test_every_match_is_shared_out_whole(num_sides: int) -> None:
    rng = np.random.default_rng(num_sides)
    winner = rng.integers(-1, num_sides, (50, num_sides))
    found = synthetic.matches(winner, num_sides, rng.integers(num_sides, size=50))
    assert side_shares(found, RULES[num_sides]).sum(axis=2) == pytest.approx(1)
    assert place_shares(found, RULES[num_sides]).sum(axis=2) == pytest.approx(1)
    agents = [agent_shares(found, RULES[num_sides], agent) for agent in range(num_sides)]
    assert sum(agents) == pytest.approx(1)
    assert np.array_equal(agents[0], match_shares(found, RULES[num_sides]))


def test_places_follow_the_first_leader() -> None:
    """Seat 2 of three leads; in seating m the winner is the side behind agent 0."""
    found = synthetic.matches([[1, 2, 0]], num_agents=3, leader=[2])
    by_place = place_shares(found, RULES[3])[0]
    # Row q: agent 0 has place q, so the winner, agent 1, has place q + 1.
    assert by_place.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert np.take_along_axis(by_place, np.argmax(found.sides == 1, axis=1)[:, None], 1).all()


def test_partners_lead_as_a_side() -> None:
    partners = replace(RULES[4], partners=True)
    found = synthetic.matches([[0, 0], [1, 1]], leader=[2, 3])
    assert seats([((0, 1), found)], partners).by_place[0].value == 1
    assert seats([((0, 1), found)], partners).by_side[0].value == 0.5


def test_table_of_three_agents() -> None:
    found = synthetic.matches([[0, 1, 2], [0, 1, 0]], num_agents=3)
    result = table_score(found, RULES[3])
    assert (result["pairs"], result["matches"], result["even"]) == (2, 6, 1 / 3)
    shares = [row["win_rate"] for row in result["agents"]]
    assert shares == pytest.approx([5 / 6, 1 / 6, 0])
    points = [row["points_per_round"] for row in result["agents"]]
    assert points[0] == pytest.approx((5 * 10 - 5) / 30)
    assert sum(points) == pytest.approx(0)
    assert leads(found, 1)[0].tolist() == [-5, -5, -5]


@pytest.mark.parametrize("num_sides", [2, 3, 4])
def test_places_and_seats_cover_the_truth(num_sides: int) -> None:
    """A strong agent and a lead worth something: neither bends what the other is found to be."""
    rng, lead, covered, fair = np.random.default_rng(num_sides), 0.4, 0, 0
    even_odds = np.exp(lead) / (np.exp(lead) + num_sides - 1)
    for _ in range(150):
        meetings = [((0, 0), synthetic.play(rng, (0, 0), [0.0], num_sides, 60, lead))]
        meetings.append(((1, 2), synthetic.play(rng, (1, 2), [0, 0, 0], num_sides, 80, lead)))
        found = seats(meetings, RULES[num_sides])
        assert sum(one.value for one in found.by_place) == pytest.approx(1)
        covered += found.by_place[0].low <= even_odds <= found.by_place[0].high
        fair += found.by_side[-1].low <= 1 / num_sides <= found.by_side[-1].high
    assert 0.9 <= covered / 150 <= 0.99
    assert 0.9 <= fair / 150 <= 0.995


def test_strength_of_agents_does_not_show_as_a_seat() -> None:
    found = synthetic.play(np.random.default_rng(4), (0, 1), [2.0, 0.0], 2, 500)
    first, second = seats([((0, 1), found)], RULES[2]).by_side
    assert first.low <= 0.5 <= first.high
    assert second.low <= 0.5 <= second.high
    result = score(found, RULES[2])
    assert result.by_seat == pytest.approx([0.88, 0.88], abs=0.04)
    assert result.by_place == pytest.approx([0.88, 0.88], abs=0.04)
