"""The house: imports go down only, heavy libraries are loaded late, and the checks can fail."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabkit.cli import main
from fabkit.sets.library import shipped_names
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


#: Heavy libraries, which no light command loads.
HEAVY = "cadquery OCP trimesh shapely numpy numba scipy vtk manifold3d reportlab PIL"
#: What solving needs only if it is asked for.
OTHERS = "cadquery OCP ortools highspy pysat scipy.linalg shapely"
#: Commands in the order of what they load, each with libraries that may not be loaded after it, and
#: those that must be. An empty command is the import of the package for notebooks.
PROCESSES = {
    "help": [
        ("--version", f"pydantic rich filelock fabkit.model.puzzle typer._adapters {HEAVY}", ""),
        ("--help", f"pydantic filelock {HEAVY}", "rich"),
        ("export-stl --help", HEAVY, ""),
        ("certify --help", HEAVY, ""),
    ],
    "certify": [
        ("certify c.json", "cadquery OCP numba fabkit.solve.exact_cover", "fabkit.certify.cover")
    ],
    "work": [
        ("show fridgeiq -p compact", f"rich filelock typer._adapters {HEAVY}", "pydantic"),
        ("sets", f"rich filelock typer._adapters {HEAVY}", ""),
        ("profiles", HEAVY, ""),
        ("", HEAVY, "fabkit.notebook"),
        ("solve fridgeiq triangle_01 --count", OTHERS, "numba"),
        ("solve fridgeiq triangle_01 --unique --certificate d.json", OTHERS, ""),
        ("solve fridgeiq triangle_01 --difficulty", OTHERS, ""),
        ("solve fridgeiq triangle_01 --starts", OTHERS, ""),
        ("export-stl fridgeiq -o unchanged", OTHERS, ""),
        ("export-svg fridgeiq --piece D -o other", "cadquery OCP", "shapely"),
        ("export-stl iqblock --piece 1 -q -o solid", "rich", "cadquery"),
    ],
}
#: Runs commands as the program does, and prints which of some libraries are loaded after each.
LOADED = """
import json, sys
from fabkit.__main__ import main

for command, libraries in json.load(sys.stdin):
    sys.argv = ["fabkit", *command.split()]
    if command:
        code = main()
    else:
        import fabkit.notebook
        code = 0
    print(json.dumps([command, code, [name for name in libraries if name in sys.modules]]), file=sys.stderr)
vtk = sys.modules.get("vtkmodules.vtkCommonCore")
print(hasattr(vtk, "__file__"), file=sys.stderr)
"""


@pytest.mark.parametrize("process", PROCESSES)
def test_commands_load_only_the_libraries_that_they_need(process: str, tmp_path: Path) -> None:
    if process != "help":
        # This may compile kernels, which loads more than it takes to run them.
        solve = ["solve", "fridgeiq", "triangle_01"]
        for question in ("--count", "--difficulty", "--starts"):
            assert main([*solve, question]) == 0
        assert main([*solve, "--unique", "--certificate", str(tmp_path / "c.json")]) == 0
        shutil.copytree(exported("fridgeiq"), tmp_path / "unchanged")
    steps = PROCESSES[process]
    asked = [(command, [*barred.split(), *needed.split()]) for command, barred, needed in steps]
    done = subprocess.run(
        [sys.executable, "-c", LOADED], input=json.dumps(asked),
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    *reports, vtk_is_real = (
        line for line in done.stderr.splitlines() if line.startswith(("[", "True", "False"))
    )
    expected = [[command, 0, needed.split()] for command, _, needed in steps]
    assert [json.loads(report) for report in reports] == expected
    assert vtk_is_real == "False"  # also after CadQuery, which gets a hollow one


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


def collected(turn: str, *options: str) -> list[str]:
    """The sets that a test over all shipped ones tries in a turn; the first line names the turn."""
    program = [
        sys.executable,
        "-m",
        "pytest",
        "tests/output/test_theme.py",
        "--collect-only",
        "-n0",
    ]
    environment = os.environ | {"FABKIT_TEST_TURN": turn}
    done = subprocess.run(
        [*program, *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert f"FABKIT_TEST_TURN={turn}" in done.stdout
    return re.findall(r"test_no_two_pieces_of_a_set_look_alike\[(\w+)\]", done.stdout)


@pytest.mark.integration
def test_sets_take_turns_by_default_and_all_are_tried_in_integration() -> None:
    turns = [collected(turn) for turn in ("first", "third", "first")]
    assert [len(sets) for sets in turns] == [1, 1, 1]
    assert turns[0] == turns[2] != turns[1]
    assert sorted(collected("first", "--integration")) == sorted(shipped_names())
