"""Each shipped set that tests elsewhere do not break: its export passes, and a planted fault is
found.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabkit.sets.library import load_set
from tests.support.built import exported

pytestmark = pytest.mark.integration

SETS = (
    "balls12", "calendar", "dicesquare", "hexiamonds", "pentominoes", "tangram", "tetrahexes",
)  # fmt: skip


def failed_rules(document: dict[str, Any]) -> set[str]:
    """The rules that the set does not keep."""
    return {finding["rule"] for finding in document["findings"] if not finding["ok"]}


@pytest.mark.every(3)
@pytest.mark.parametrize("name", SETS)
def test_an_export_passes_and_a_fault_in_it_is_found(
    name: str, tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    import trimesh

    folder = tmp_path / "stl"
    shutil.copytree(exported(name) / "stl", folder)
    sound = run_json("verify", name, "--from", str(folder), "-o", str(tmp_path))
    assert sound["ok"]
    first, second = (piece.id for piece in load_set(name).pieces[:2])
    # A second copy of a piece lies in place of another.
    shutil.copy(folder / f"{second}.stl", folder / f"{first}.stl")
    twice = run_json("verify", name, "--from", str(folder), "-o", str(tmp_path), code=1)
    assert failed_rules(twice) == {"missing", "duplicate"}
    # A piece is printed too large.
    large = trimesh.load_mesh(exported(name) / "stl" / f"{first}.stl")
    large.apply_scale((1.02, 1.02, 1.0))
    large.export(folder / f"{first}.stl")
    wide = run_json("check", name, str(folder), code=1)
    named = [cause for cause in wide["causes"] if f"{first}.stl" in cause["files"]]
    assert named, wide["causes"]
