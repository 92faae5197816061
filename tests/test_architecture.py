"""The house: imports go down only, heavy libraries are loaded late, and the checks can fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

LINTER = Path(sys.executable).with_name("lint-imports")


def lint(checkout: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINTER), "--no-cache"], cwd=checkout, capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy_of_house(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "fabkit", tmp_path / "fabkit")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_go_down_only(copy_of_house: Path) -> None:
    result = lint(copy_of_house)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("fabkit/model/lattice.py", "import fabkit.drawing.draft"),
        ("fabkit/core/units.py", "import fabkit.cli.report"),
        ("fabkit/solid/pieces.py", "import fabkit.output.svg"),
        ("fabkit/drawing/draft.py", "import cadquery"),
        ("fabkit/build/export.py", "import trimesh"),
        ("fabkit/model/lattice.py", "import fabkit.model.placement"),
        ("fabkit/certify/check.py", "import fabkit.solve.problem"),
        ("fabkit/certify/cover.py", "import numba"),
        ("fabkit/solve/answer.py", "import ortools"),
        ("fabkit/solve/engines/search.py", "import pysat"),
        ("fabkit/jobs/run.py", "import distributed"),
        ("fabkit/jobs/cluster.py", "import dask"),
        ("fabkit/printing/plate.py", "import fabkit.verify.check"),
        ("fabkit/verify/check.py", "import fabkit.printing.bom"),
        ("fabkit/printing/package.py", "import lib3mf"),
        ("fabkit/printing/nesting/nest.py", "import spyrrow"),
        ("fabkit/printing/laser.py", "import ezdxf"),
    ],
)
def test_a_planted_import_is_found(copy_of_house: Path, file: str, line: str) -> None:
    path = copy_of_house / file
    path.write_text(path.read_text() + f"\n\ndef planted() -> None:\n    {line}\n")
    result = lint(copy_of_house)
    assert result.returncode == 1, result.stdout
    assert "BROKEN" in result.stdout


def test_a_room_outside_the_contract_is_found(copy_of_house: Path) -> None:
    (copy_of_house / "fabkit" / "cellar.py").write_text('"""A room that no layer names."""\n')
    assert lint(copy_of_house).returncode == 1


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["sets"],
        ["export-stl", "--help"],
        ["profiles"],
        ["show", "fridgeiq"],
        ["solve", "--help"],
        ["certify", "--help"],
    ],
)
def test_light_commands_load_no_heavy_library(command: list[str]) -> None:
    """Proved in a fresh process, by looking at what it has loaded when it is done."""
    code = (
        "import sys; from fabkit.cli import main; main(sys.argv[1:]); "
        "heavy = {'cadquery', 'OCP', 'trimesh', 'shapely', 'numpy', 'numba', 'scipy', 'vtk'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=True
    )
    assert result.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "arguments",
    [["--count"], ["--unique", "--certificate", "c.json"], ["--difficulty"], ["--starts"]],
    ids=" ".join,
)
def test_solving_loads_no_library_that_was_not_asked_for(
    arguments: list[str], tmp_path: Path
) -> None:
    code = (
        "import sys; from fabkit.cli import main; main(sys.argv[1:]); "
        "others = {'cadquery', 'OCP', 'ortools', 'highspy', 'pysat', 'shapely', 'scipy.linalg'};"
        "print(sorted(others & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "solve", "fridgeiq", "triangle_01", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert result.stderr.splitlines()[-1] == "[]"


def test_an_unchanged_export_loads_no_heavy_library(tmp_path: Path) -> None:
    code = (
        "import sys; from fabkit.cli import main; main(sys.argv[1:]); "
        "print('cadquery' in sys.modules, 'shapely' in sys.modules)"
    )
    command = [sys.executable, "-c", code, "export-stl", "fridgeiq", "--piece", "D", "-o", "out"]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        for _ in range(2)
    ]
    assert [run.stdout.splitlines()[-1] for run in runs] == ["True True", "False False"]
