"""How far meshes that others made may be off: up to some limits all are read, beyond none is misread.

What is still read, and asserted here (in parts of the grid unit; FridgeIQ, set by set as a whole):

==================  ==========================================================================
rounding            every corner with a radius of 0.15
tips                of 45 degrees, cut back by a tenth of both their edges
inset               0 to 0.04 on each side; outwards down to -0.03
noise               corners off by 0.001 along each axis
leaning sides       3 degrees
thickness           from 0.01 to 4; rectangles that lie on a side are told by the other pieces
==================  ==========================================================================

Beyond that a body is read right, or told as unread or as no piece of the set; never as another
piece. (Two pieces that are one triangle in two sizes can be exchanged when nothing else is read.)
"""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fabkit.model.library import load_set
from tests.support import foreign
from tests.support.foreign import Make
from tests.support.foreignsets import SETS, built, drawn, is_misread, read, verdicts

#: The limits stated above, for a unit of 20 mm.
ROUNDING_MM, TIP_CUT, INSET_MM, NOISE_MM, LEAN_DEGREES = 3.0, 0.1, 0.8, 0.02, 3.0


def brief(make: Make) -> str:
    """What is special about a construction."""
    plain = vars(Make())
    return " ".join(f"{key}={value}" for key, value in vars(make).items() if value != plain[key])


AT_THE_LIMIT = [
    Make(rounding=ROUNDING_MM),
    Make(tip_cut=TIP_CUT, inset=0.0),
    Make(tip_cut=TIP_CUT, rounding=1.0),
    Make(inset=INSET_MM),
    Make(inset=-0.6),
    Make(noise=NOISE_MM),
    Make(noise=NOISE_MM, subdivided=2),
    Make(taper=7.0 * math.tan(math.radians(LEAN_DEGREES))),
    Make(thickness=0.2),
    Make(thickness=80.0),
]


@pytest.mark.integration
@pytest.mark.every(3)
@pytest.mark.parametrize("make", AT_THE_LIMIT, ids=brief)
@pytest.mark.parametrize(
    "set_name",
    [
        pytest.param(one, marks=() if one in ("fridgeiq", "iqstars") else pytest.mark.long)
        for one in SETS
    ],
)
def test_at_the_limit_all_is_read(set_name: str, make: Make) -> None:
    if set_name == "iqstars" and make.inset == INSET_MM:
        make = replace(make, inset=INSET_MM / math.sqrt(3))
    assert set(verdicts(set_name, make)) == {"right"}


BEYOND = [
    Make(rounding=5.3),
    Make(tip_cut=0.17),
    Make(inset=1.3),
    Make(noise=0.4),
    Make(taper=0.7),
]
#: One of each by default, on FridgeIQ.
CLEARLY_BEYOND = [
    pytest.param(
        set_name,
        make,
        id=f"{set_name}-{brief(make)}",
        marks=() if set_name == "fridgeiq" and make in BEYOND else pytest.mark.long,
    )
    for set_name in SETS
    for make in BEYOND
]


@pytest.mark.integration
@pytest.mark.parametrize(("set_name", "make"), CLEARLY_BEYOND)
def test_beyond_the_limit_nothing_is_misread(set_name: str, make: Make) -> None:
    puzzle = load_set(set_name)
    for part, piece in zip(read(built(set_name, make), puzzle), puzzle.pieces, strict=True):
        assert not is_misread(part, puzzle, piece.id, make), piece.id


sizes = st.floats(0, 1, width=16)


@pytest.mark.integration
@given(
    rounding=sizes,
    tip_cut=sizes,
    inset=sizes,
    noise=sizes,
    thickness=sizes,
    some=st.lists(st.sampled_from("ARLOMTSQDJNYIU"), min_size=1, max_size=3, unique=True),
)
@example(rounding=0.5, tip_cut=0.0, inset=0.5, noise=0.0, thickness=0.0, some=["A", "I"])
def test_whatever_is_read_is_right(
    rounding: float, tip_cut: float, inset: float, noise: float, thickness: float, some: list[str]
) -> None:
    """Sizes from 0 to 1 reach to twice their limits."""
    make = Make(
        rounding=2 * ROUNDING_MM * rounding,
        tip_cut=2 * TIP_CUT * tip_cut,
        inset=2 * INSET_MM * inset,
        noise=2 * NOISE_MM * noise,
        thickness=1 + 29 * thickness,
    )
    puzzle, drawings, chance = load_set("fridgeiq"), drawn("fridgeiq"), Random(1)
    bodies = [
        foreign.shell(foreign.build(drawings[one].outline, make), foreign.random_stand(chance), one)
        for one in some
    ]
    for part in read(bodies, puzzle):
        assert not is_misread(part, puzzle, part.name, make), part.name
