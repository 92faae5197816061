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
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fabkit.model.library import load_set
from tests.support import foreign
from tests.support.foreign import Make
from tests.support.foreignsets import built, drawn, is_misread, read, verdicts

pytestmark = pytest.mark.integration

#: The limits stated above, for a unit of 20 mm.
ROUNDING_MM, TIP_CUT, INSET_MM, NOISE_MM, LEAN_DEGREES = 3.0, 0.1, 0.8, 0.02, 3.0
AT_THE_LIMIT = {
    "rounding": Make(rounding=ROUNDING_MM),
    "tips and rounding": Make(tip_cut=TIP_CUT, rounding=1.0),
    "inset": Make(inset=INSET_MM),
    "outwards": Make(inset=-0.6),
    "noise": Make(noise=NOISE_MM, subdivided=2),
    "leaning": Make(taper=7.0 * math.tan(math.radians(LEAN_DEGREES))),
    "thin": Make(thickness=0.2),
    "thick": Make(thickness=80.0),
}
BEYOND = {
    "rounding": Make(rounding=5.3),
    "tips": Make(tip_cut=0.17),
    "inset": Make(inset=1.3),
    "noise": Make(noise=0.4),
    "leaning": Make(taper=0.7),
}


@pytest.mark.parametrize("make", AT_THE_LIMIT.values(), ids=AT_THE_LIMIT)
def test_at_the_limit_all_is_read(make: Make) -> None:
    assert set(verdicts("fridgeiq", make)) == {"right"}


@pytest.mark.parametrize("make", BEYOND.values(), ids=BEYOND)
def test_beyond_the_limit_nothing_is_misread(make: Make) -> None:
    puzzle = load_set("fridgeiq")
    for part, piece in zip(read(built("fridgeiq", make), puzzle), puzzle.pieces, strict=True):
        assert not is_misread(part, puzzle, piece.id, make), piece.id


sizes = st.floats(0, 1, width=16)


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
