"""What a foreign set is made to is measured on its meshes, and becomes a profile that can be read."""

from __future__ import annotations

import pytest

from fabkit.mesh.files.readers import read_meshes
from fabkit.profiles.profile_file import contradictions, load_profile
from fabkit.sets.library import load_set
from fabkit.verify.scan import Scanner
from tests.support.lookalikes import VARIANTS, lookalike_files


@pytest.mark.integration
@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        (
            "the author's",
            {
                "unit": "20 mm",
                "thickness": "7 mm",
                "clearance": "0 mm",
                "edges of the back": "rounded by 2.33 mm",
                "recess": "9.99 mm x 3.5 mm, 10.3 mm at its lead-in",
            },
        ),
        ("with clearance", {"clearance": "0.2 mm"}),
        (
            "chamfered",
            {
                "edges of the face": "chamfered by 0.8 mm",
                "edges of the back": "chamfered by 0.4 mm",
            },
        ),
    ],
)
def test_the_table_says_what_most_pieces_show(variant: str, expected: dict[str, str]) -> None:
    puzzle = load_set("fridgeiq")
    files = lookalike_files("fridgeiq", VARIANTS[variant])
    made = Scanner([body for one in files for body in read_meshes(one)], puzzle).scan(20.0).sizes
    assert made is not None
    rows = dict(made.rows())
    assert expected.items() <= rows.items(), rows
    profile = made.profile(load_profile())
    assert not list(contradictions(profile))
    assert (profile.unit_mm, profile.thickness_mm) == (20.0, 7.0)
