"""Any mesh whatever, in any format, gets a verdict or one message from `fabkit check`.

``anything(SEED)`` makes a file again.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fabkit.cli import main
from tests.support import meshfiles as files
from tests.support.meshfuzz import CHANGES

SETS = ("fridgeiq", "iqstars", "iqblock", "iqfit", "cubimagici")
Mesh = tuple[np.ndarray, np.ndarray]


def solid(dice: np.random.Generator) -> Mesh:
    """Boxes, cylinders and balls, united and subtracted, on a lattice or anywhere."""
    from manifold3d import Manifold

    made = Manifold.cube(dice.uniform(1, 6, 3).tolist(), True)
    for _ in range(dice.integers(0, 6)):
        one = (
            Manifold.cube(dice.uniform(0.3, 6, 3).tolist(), True),
            Manifold.cylinder(dice.uniform(0.3, 6), *dice.uniform(0.2, 2, 2), dice.integers(3, 32)),
            Manifold.sphere(dice.uniform(0.3, 2), dice.integers(6, 24)),
        )[dice.integers(0, 3)]
        at = dice.integers(-2, 3, 3) if dice.random() < 0.5 else dice.normal(size=3)
        made = made + one.translate(at.tolist()) if dice.random() < 0.4 else made - one
    mesh = made.to_mesh()
    return np.array(mesh.vert_properties, float)[:, :3], np.array(mesh.tri_verts, np.int64)


def soup(dice: np.random.Generator) -> Mesh:
    """Triangles between some corners, now and then all in one plane, line or place."""
    corners = dice.normal(size=(12, 3)) * dice.integers(0, 2, 3)
    return corners, dice.integers(0, 12, (dice.integers(1, 30), 3))


def holed(dice: np.random.Generator) -> Mesh:
    """A box without some of its faces, and with some turned round."""
    faces = np.array(files.FACES)[dice.random(12) < 0.8]
    return files.CORNERS, np.where(dice.random((len(faces), 1)) < 0.2, faces[:, ::-1], faces)


def two_boxes(dice: np.random.Generator) -> Mesh:
    """Two boxes in one body, apart, one in the other, or crossing."""
    corners = np.vstack([files.CORNERS, files.CORNERS + dice.normal(size=3)])
    return corners, np.vstack([files.FACES, files.FACES + 8])


def package(vertices: np.ndarray, faces: np.ndarray) -> bytes:
    items = '<item objectid="1"/><item objectid="1" transform="-1 0 0 0 1 0 0 0 1 0 9 0"/>'
    whole = files.object3mf(1, files.mesh(vertices, faces))
    return files.package(files.model(whole, items, unit="meter"))


def glb(vertices: np.ndarray, faces: np.ndarray) -> bytes:
    import trimesh

    return trimesh.Trimesh(vertices, faces, process=False).export(file_type="glb")


WRITERS: dict[str, Callable[[np.ndarray, np.ndarray], bytes | str]] = {
    "a.stl": lambda vertices, faces: files.binary_stl(vertices[faces]),
    "b.stl": lambda vertices, faces: files.ascii_stl(vertices[faces]),
    "a.obj": files.obj,
    "a.off": files.off,
    "a.ply": lambda vertices, faces: files.ply(vertices, faces, binary=len(faces) % 2 == 0),
    "a.3mf": package,
    "a.glb": glb,
}


def anything(seed: int) -> tuple[str, bytes]:
    """A file's name and content; every third is damaged."""
    dice = np.random.default_rng(seed)
    vertices, faces = (solid, solid, soup, holed, two_boxes)[dice.integers(0, 5)](dice)
    name = list(WRITERS)[seed % len(WRITERS)]
    made = WRITERS[name](vertices * 10 ** dice.uniform(-2, 2), faces)
    content = bytearray(made if isinstance(made, bytes) else made.encode())
    if seed % 3 == 0:
        rng = random.Random(seed)
        rng.choice(CHANGES)(rng, content)
    return name, bytes(content)


FEW = pytest.param(range(5), id="few")
MANY = [
    pytest.param(range(first, first + 50), id=f"from {first}", marks=pytest.mark.integration)
    for first in (5, 55, 105, 155)
]
MORE = pytest.param(range(205, 5000), id="more", marks=pytest.mark.long)


@pytest.mark.parametrize("seeds", [FEW, *MANY, MORE])
def test_any_mesh(seeds: range, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in seeds:
        name, content = anything(seed)
        path = tmp_path / name
        path.write_bytes(content)
        code = main(["check", "--set", SETS[seed % 5], str(path), "--budget", "1", "-q"])
        output = capsys.readouterr()
        assert (code, output.err.count(f"{path}: ")) in {(0, 0), (1, 0), (2, 1)}, seed
        assert "Traceback" not in output.err, seed


@pytest.mark.integration
def test_a_mesh_with_protrusions_is_freed_when_the_command_ends(tmp_path: Path) -> None:
    """A ball has them at both ends. Nanobind reports what is still there when Python ends."""
    import trimesh

    trimesh.creation.icosphere(2, radius=14).export(tmp_path / "ball.stl")
    command = [sys.executable, "-m", "fabkit", "check", "--set", "fridgeiq", "ball.stl"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "leaked" not in result.stderr


def test_flat_faces_beside_a_piece(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The thickness of most meshes is 0, with which that of a piece is compared."""
    import trimesh

    trimesh.creation.box((79.8, 39.8, 7)).export(tmp_path / "0.stl")
    for name in ("a", "b"):
        corners = [(0, 0, 0), (9, 0, 0), (0, 9, 0)]
        trimesh.Trimesh(corners, [(0, 1, 2)]).export(tmp_path / f"{name}.stl")
    assert main(["check", "--set", "iqblock", str(tmp_path)]) == 1
    assert "0.stl" in capfd.readouterr().out
