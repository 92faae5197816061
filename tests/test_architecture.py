"""The house: imports go down only, heavy libraries are loaded late, and the checks can fail."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.built import exported

LINTER = Path(sys.executable).with_name("lint-imports")


def lint(checkout: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(LINTER), "--no-cache"], cwd=checkout, capture_output=True, text=True, check=False
    )
    done.stdout = re.sub(r"\x1b\[\d*m", "", done.stdout)  # older ones write colours into pipes
    return done


@pytest.fixture
def copy_of_house(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "fabkit", tmp_path / "fabkit")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


#: Imports that some contract forbids: where, and of what.
PLANTED = [
    ("fabkit/model/lattice.py", "fabkit.drawing.draft"),
    ("fabkit/core/units.py", "fabkit.cli.report"),
    ("fabkit/solid/pieces.py", "fabkit.output.svg"),
    ("fabkit/drawing/draft.py", "cadquery"),
    ("fabkit/build/export.py", "trimesh"),
    ("fabkit/certify/verdict.py", "fabkit.solve.exact_cover"),
    ("fabkit/certify/cover.py", "numba"),
    ("fabkit/solve/answer.py", "ortools"),
    ("fabkit/solve/engines/search.py", "pysat"),
    ("fabkit/jobs/run.py", "distributed"),
    ("fabkit/jobs/cluster.py", "dask"),
    ("fabkit/printing/plate.py", "fabkit.verify.reports"),
    ("fabkit/mesh/part.py", "fabkit.printing.odds"),
    ("fabkit/printing/package3mf.py", "lib3mf"),
    ("fabkit/printing/nesting/nest.py", "spyrrow"),
    ("fabkit/printing/cut_sheets.py", "ezdxf"),
]


def test_imports_go_down_only_and_planted_ones_are_found(copy_of_house: Path) -> None:
    result = lint(copy_of_house)
    assert result.returncode == 0, result.stdout
    (copy_of_house / "fabkit" / "cellar.py").write_text('"""A room that no layer names."""\n')
    assert lint(copy_of_house).returncode == 1
    (copy_of_house / "fabkit" / "cellar.py").unlink()
    for file, imported in PLANTED:
        path = copy_of_house / file
        path.write_text(path.read_text() + f"\n\ndef planted() -> None:\n    import {imported}\n")
    lattice = copy_of_house / "fabkit" / "model" / "lattice.py"
    lattice.write_text(f"{lattice.read_text()}\n\nimport fabkit.model.piece\n")
    found = lint(copy_of_house)
    assert found.returncode == 1
    output = " ".join(found.stdout.split())
    assert "No cycles inside a package BROKEN" in output
    for file, imported in PLANTED:
        module = file.removesuffix(".py").replace("/", ".")
        assert re.search(rf"{re.escape(module)} -> {re.escape(imported)}\b", output), (
            file,
            imported,
        )


LIGHT = ["--help", "sets", "export-stl --help", "profiles", "show fridgeiq", "certify --help"]
SOLVING = ["--count", "--unique --certificate c.json", "--difficulty", "--starts"]


def loaded(commands: list[str], libraries: str, folder: Path, module: str = "fabkit.cli") -> str:
    """Which of some libraries a fresh process has loaded after some commands."""
    code = (
        f"import sys, {module}; from fabkit.cli import main; [main(one.split()) for one in sys.argv[2:]]; "
        "print(sorted(set(sys.argv[1].split()) & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, libraries, *commands],
        capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    return result.stderr.splitlines()[-1]


def test_light_commands_load_no_heavy_library(tmp_path: Path) -> None:
    heavy = "cadquery OCP trimesh shapely numpy numba scipy vtk manifold3d reportlab PIL"
    assert loaded(LIGHT, heavy, tmp_path) == "[]"
    assert loaded([], heavy, tmp_path, "fabkit.notebook") == "[]"


#: How many modules commands import, with a fifth to spare for other versions of libraries.
MODULES = {"--version": 210, "sets": 375, "show fridgeiq": 375, "solve iqblock --count": 780}


@pytest.mark.parametrize(("command", "limit"), MODULES.items())
def test_short_commands_import_few_modules(command: str, limit: int, tmp_path: Path) -> None:
    code = "import sys; from fabkit.cli import main; main(sys.argv[1:]); print(len(sys.modules))"
    program = [sys.executable, "-c", code, *command.split()]
    for _ in range(2):  # the first run may compile kernels
        done = subprocess.run(program, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert limit / 2 < int(done.stdout.splitlines()[-1]) < limit


def test_only_commands_that_read_files_or_print_help_load_their_libraries(tmp_path: Path) -> None:
    slow = "pydantic rich filelock fabkit.model.puzzle typer._adapters"
    assert loaded(["--version"], slow, tmp_path) == "[]"
    assert (
        loaded(["show fridgeiq -p compact", "sets"], "rich filelock typer._adapters", tmp_path)
        == "[]"
    )
    assert loaded(["--help"], "pydantic rich filelock", tmp_path) == "['rich']"


def test_solving_loads_no_library_that_was_not_asked_for(tmp_path: Path) -> None:
    others = "cadquery OCP ortools highspy pysat shapely scipy.linalg"
    commands = [f"solve fridgeiq triangle_01 {question}" for question in SOLVING]
    loaded(commands, others, tmp_path)  # which may compile kernels
    assert loaded(commands, others, tmp_path) == "[]"
    assert loaded(["certify c.json"], "cadquery numba fabkit.solve.exact_cover", tmp_path) == "[]"


def test_an_unchanged_export_loads_no_heavy_library(tmp_path: Path) -> None:
    shutil.copytree(exported("fridgeiq"), tmp_path / "out")
    assert loaded(["export-stl fridgeiq -o out"], "cadquery shapely", tmp_path) == "[]"
    another = "export-svg fridgeiq --piece D -o other"
    assert loaded([another], "cadquery shapely", tmp_path) == "['shapely']"


def test_an_export_loads_no_vtk(tmp_path: Path) -> None:
    code = (
        "import sys; from fabkit.__main__ import main; main(); modules = set(sys.modules); "
        "import vtkmodules.vtkCommonCore as vtk; print('cadquery' in modules, hasattr(vtk, '__file__'))"
    )
    command = [sys.executable, "-c", code, "export-stl", "iqblock", "--piece", "1", "-q"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert result.stdout == "True False\n"


#: Prints for each command every function of fabkit that it calls, in the order of first calls.
TRACED = """
import shlex, sys
from pathlib import Path
import fabkit
from fabkit.cli import main

folder = str(Path(fabkit.__file__).parent) + "/"

def note(frame, _, __):
    code = frame.f_code
    if code.co_filename.startswith(folder):
        module = code.co_filename.removeprefix(folder).removesuffix(".py").replace("/", ".")
        called.setdefault(f"{module}.{code.co_qualname}")

for command in sys.argv[1:]:
    called = {}
    sys.settrace(note)  # of calls alone, since it returns nothing
    code = main(shlex.split(command))
    sys.settrace(None)
    assert code == 0
    print(*called)
"""


PATHS = {
    "export-stl pair.toml -q": ("### From TOML to STL", 30),
    "verify pair.toml -q": ("### From STL back", 35),
}


@pytest.mark.integration
@pytest.mark.usefixtures("pair")
def test_the_documented_path_of_an_outline_is_taken() -> None:
    """Commands call the functions that the page lists, for the first time in that order."""
    program = [sys.executable, "-c", TRACED, *PATHS]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    page = (ROOT / "docs" / "architecture.md").read_text()
    for (start, limit), line in zip(PATHS.values(), done.stdout.splitlines(), strict=True):
        section, called = page.split(start)[1].split("\n#")[0], line.split()
        listed = re.findall(r"^\d+\. `([\w.]+)`", section, re.MULTILINE)
        assert 20 < len(listed) <= limit
        assert [name for name in listed if name not in called] == []
        assert sorted(listed, key=called.index) == listed


@pytest.mark.integration
def test_what_was_left_out_is_one_line_and_a_missing_program_is_named(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "pytest", "tests/mesh/test_second_opinion.py", "--color=no"]
    for options, counted, named in ((["-n0"], 3, 0), (["-n1", "--integration"], 1, 1)):
        done = subprocess.run(
            [*program, *options], cwd=ROOT, env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        last = done.stdout.splitlines()[-1]
        assert re.match(f"{counted} tests? left to the other tiers: ", last), done.stdout
        assert ("needs admesh: apt install admesh" in done.stdout) == named
        assert ("SKIPPED" in done.stdout) == named
