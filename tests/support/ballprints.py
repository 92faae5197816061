"""The ball pieces of IQ Fit for tests: as their set draws them, and as we print them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabkit.drawing.ball import draft_ball
from fabkit.mesh.body import Body
from fabkit.mesh.files.reading import read_bodies
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.solid.balls import build_balls
from fabkit.solid.export import write_stl

IQFIT = load_set("iqfit")
IDS = [piece.id for piece in IQFIT.pieces]
BODIES = {piece.id: piece.body for piece in IQFIT.pieces if piece.body}


@cache
def exported(name: str) -> Body:
    """A piece as our own STL file gives it."""
    profile = load_profile(unit_mm=IQFIT.unit_mm)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.stl"
        write_stl(build_balls(draft_ball(IQFIT, IQFIT.piece(name), profile)), path)
        (body,) = read_bodies(path)
    return body
