"""What ADMesh, which repairs STL files, finds to repair in those that are exported: nothing."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fabkit.cli import main

pytestmark = pytest.mark.needs("admesh")

FAULTS = (
    "Total disconnected facets", "Degenerate facets", "Edges fixed", "Facets removed",
    "Facets added", "Facets reversed", "Backwards edges", "Normals fixed",
)  # fmt: skip


def found(path: Path) -> dict[str, int]:
    """How many of each fault ADMesh sees."""
    output = subprocess.run(
        ["admesh", str(path)], capture_output=True, text=True, check=True
    ).stdout
    return {name: int(re.search(rf"{name}\s*:\s*(\d+)", output)[1]) for name in FAULTS}  # type: ignore[index]


@pytest.mark.parametrize("profile", ["default", pytest.param("flippable", marks=pytest.mark.long)])
def test_there_is_nothing_to_repair(profile: str, tmp_path: Path) -> None:
    assert main(["export-stl", "fridgeiq", "-p", profile, "-o", str(tmp_path), "-q"]) == 0
    files = sorted((tmp_path / "stl").iterdir())
    assert len(files) == 16
    for path in files:
        assert set(found(path).values()) == {0}, path.name


def test_a_missing_triangle_would_be_noticed(pair: str) -> None:
    assert main(["export-stl", pair, "--piece", "P", "-q"]) == 0
    path = Path("output/pair/stl/P.stl")
    content = path.read_bytes()
    count = int.from_bytes(content[80:84], "little") - 1
    path.write_bytes(content[:80] + count.to_bytes(4, "little") + content[84:-50])
    assert found(path)["Total disconnected facets"] == 3
