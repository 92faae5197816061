"""What a set of orbits can still take up if it is to become rigid.

In the end every connected part must meet an axis and a diagonal (`Field.mirrors`). As long as it
does not, it has to grow there, over orbits that are not in the set yet. The least number of new
cells that join a part to both mirrors is a shortest tree between three ends, found by passing
outwards from each of them in layers of equal cost. Sets of which a part needs more cells than the
area allows are dropped, and placements that reach an orbit no such tree can hold are not tried.
Other parts may serve as stepping stones, which cost nothing, so nothing is dropped that could be
completed.
"""

from __future__ import annotations

import numpy as np

from fabkit.solve.engines.compiled import ONE, ZERO, kernel, population, trailing_zeros

#: Trees are only looked for while the area left is small; before, there are few sets.
MOST_LAYERS = 24


@kernel
def weigh(mask, planes, values):  # type: ignore[no-untyped-def]
    """The number of cells of a set of orbits: bit counts, orbits of each weight apart."""
    found = np.int64(0)
    for plane in range(values.shape[0]):
        bits = np.int64(0)
        for at in range(planes.shape[1]):
            bits += np.int64(population(mask[at] & planes[plane, at]))
        found += bits * values[plane]
    return found


@kernel
def _spread(sources, near, found):  # type: ignore[no-untyped-def]
    """Adds to ``found`` what meets the sources."""
    for at in range(sources.shape[0]):
        word = sources[at]
        while word != ZERO:
            orbit = at * 64 + np.int64(trailing_zeros(word))
            word &= word - ONE
            for to in range(found.shape[0]):
                found[to] |= near[orbit, to]


@kernel
def _layers(starts, entry, orbits, near, costs, most, reached, around, fresh):  # type: ignore[no-untyped-def]
    """What can be reached at every cost: orbits of the set are free, new ones are not.

    Args:
        starts: row c is where one may start at cost c; after the last row nowhere anew.
        entry: orbits that can be reached from outside as if they met a start at cost 0.
        orbits: the set.
        near: what meets each orbit.
        costs: the orbits that cost 1, 2 … to add.
        most: the greatest cost of interest.
        reached: for each cost a row, which is written: all orbits reached at that cost or less.
        around: as many rows to work in.
        fresh: one more.
    """
    width = orbits.shape[0]
    for cost in range(most + 1):
        for at in range(width):
            before = ZERO if cost == 0 else reached[cost - 1, at]
            around[cost, at] = entry[at] if cost == 0 else around[cost - 1, at]
            found = starts[cost, at] if cost < starts.shape[0] else ZERO
            for price in range(1, min(cost, costs.shape[0]) + 1):
                found |= around[cost - price, at] & costs[price - 1, at] & ~orbits[at]
            # What the set itself holds next to what was reached before is free.
            fresh[at] = (found | (around[cost, at] & orbits[at] if cost > 0 else ZERO)) & ~before
            reached[cost, at] = before | fresh[at]
        more = True
        while more:
            more = False
            _spread(fresh, near, around[cost])
            for at in range(width):
                fresh[at] = around[cost, at] & orbits[at] & ~reached[cost, at]
                more |= fresh[at] != ZERO
                reached[cost, at] |= fresh[at]


@kernel
def _useful(orbits, near, mirrors, costs, most, room):  # type: ignore[no-untyped-def]
    """Writes to ``room[2, most]`` the orbits that a tree joins to both mirrors at so much cost.

    The tree's fork lies on an orbit of the set, or on a new one, which both ways to the mirrors
    count. Only such orbits can be part of what the set becomes.
    """
    width = orbits.shape[0]
    fresh, none = room[4, 0], room[4, 1]
    for mirror in range(2):
        for at in range(width):
            room[5, 0, at] = orbits[at] & mirrors[mirror, at]
        _layers(
            room[5, :1], mirrors[mirror], orbits, near, costs, most, room[mirror], room[3], fresh
        )
        for at in range(width):
            if orbits[at] & ~room[mirror, most, at] != ZERO:
                room[2, most] = ZERO
                return
    for cost in range(most + 1):
        for at in range(width):
            forks = ZERO
            for price in range(costs.shape[0] + 1):
                where = orbits[at] if price == 0 else costs[price - 1, at] & ~orbits[at]
                for one in range(max(0, cost + price - most), min(most, cost + price) + 1):
                    forks |= where & room[0, one, at] & room[1, cost + price - one, at]
            room[5, cost, at] = forks
            none[at] = ZERO
    _layers(room[5, : most + 1], none, orbits, near, costs, most, room[2], room[3], fresh)


@kernel
def useful_cells(orbits, field, most, room, useful):  # type: ignore[no-untyped-def]
    """Writes the orbits that the set may still take up, its own among them if it can be joined."""
    planes, _, values, near, mirrors, costs, unit, slack, rigid = field
    layers = (most - weigh(orbits, planes, values) + slack) // unit
    if rigid and layers < room.shape[1]:
        _useful(orbits, near, mirrors, costs, layers, room)
        for at in range(useful.shape[0]):
            useful[at] = room[2, layers, at]
    else:
        useful[:] = ~ZERO
