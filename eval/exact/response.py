# mypy: allow-untyped-defs
# (compiled functions take records, which have no static type)
"""What policies are worth on a tree, and best responses to them, exact by backward induction.

``nodes`` is NODE [N] in the order of a walk in depth first; ``info`` int64 [N] is each decision's
information set, ``offsets`` int64 [I + 1] where its actions begin among all actions, and ``policy``
float64 [A] the probability of each of them.
"""

import numpy as np

from eval.exact.tree import CHANCE
from fives_env.jit import jit, jit_part


@jit_part
def _weight(nodes, info, offsets, policy, free, number):
    """The probability with which a node's parent goes on to it; 1 where seat `free` decides."""
    above = nodes[number].parent
    player = nodes[above].player
    if player == CHANCE:
        return 1.0 / nodes[above].children
    if player == free:
        return 1.0
    return policy[offsets[info[above]] + nodes[number].index]


@jit
def expected(nodes, info, offsets, policy):
    """What seat 0 makes of seat 1, both with this policy: points a round."""
    values = nodes.value.copy()
    for number in range(len(nodes) - 1, 0, -1):
        weight = _weight(nodes, info, offsets, policy, -1, number)
        values[nodes[number].parent] += weight * values[number]
    return values[0]


@jit
def best_response(nodes, by_depth, depths, info, offsets, policy, seat, best):
    """What the best response of `seat` to the other seat's policy makes: points a round.

    The response knows no more than its seat: in all nodes of an information set it takes the one
    action that is best for them together, each weighed by the chance that the deal and the other
    seat lead there. These nodes have one depth, so the deepest are decided first.

    Args:
        nodes: The tree, NODE [N].
        by_depth: int64 [N], the nodes by depth.
        depths: int64 [D + 1], where each depth begins in `by_depth`.
        info: int64 [N].
        offsets: int64 [I + 1].
        policy: float64 [A]; that of `seat` is not looked at.
        seat: Who responds.
        best: int64 [I], becomes the index of the action taken in the seat's information sets.
    """
    chances = np.ones(len(nodes))
    for number in range(1, len(nodes)):
        weight = _weight(nodes, info, offsets, policy, seat, number)
        chances[number] = chances[nodes[number].parent] * weight
    values = nodes.value * (1.0 if seat == 0 else -1.0)
    worth = np.zeros(len(policy))
    best[:] = -1
    for depth in range(len(depths) - 2, 0, -1):
        level = by_depth[depths[depth] : depths[depth + 1]]
        for number in level:
            above = nodes[number].parent
            if nodes[above].player == seat:
                action = offsets[info[above]] + nodes[number].index
                worth[action] += chances[above] * values[number]
            else:
                weight = _weight(nodes, info, offsets, policy, seat, number)
                values[above] += weight * values[number]
        for number in level:
            above = nodes[number].parent
            if nodes[above].player == seat:
                where = info[above]
                if best[where] < 0:
                    best[where] = np.argmax(worth[offsets[where] : offsets[where + 1]])
                if best[where] == nodes[number].index:
                    values[above] = values[number]
    return values[0]
