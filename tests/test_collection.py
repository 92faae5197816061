"""Collecting the tests is quick: each process that runs tests, or a single one, collects all of
them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

#: Libraries that tests, and modules with examples, import in the functions that use them.
HEAVY = {
    "OCP", "cadquery", "dask", "distributed", "ezdxf", "fabkit.solid.builder", "highspy",
    "jsonschema", "manifold3d", "matplotlib", "ortools", "pypdf", "pypdfium2", "pysat",
    "scipy.linalg", "scipy.spatial", "scipy.stats", "spyrrow", "starlette", "trimesh", "uvicorn",
    "vtkmodules", "xcover",
}  # fmt: skip

#: Collects what pytest is asked to, and prints the modules that are loaded afterwards.
COLLECTED = """
import sys, pytest
code = pytest.main(["--collect-only", "-qq", "-n0", "-p", "no:cacheprovider", *sys.argv[1:]])
print(code == pytest.ExitCode.OK, *sys.modules)
"""


def loaded_by_collecting(*paths: Path) -> set[str]:
    """The heavy libraries that a fresh process has loaded once it has collected tests.

    Args:
        paths: files of tests; if none are given, all tests and examples are collected.
    """
    options = [f"--rootdir={ROOT}", f"--config-file={ROOT / 'pyproject.toml'}"]
    done = subprocess.run(
        [sys.executable, "-c", COLLECTED, *options, *map(str, paths)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    collected, *modules = done.stdout.splitlines()[-1].split()
    assert collected == "True", done.stdout
    return HEAVY & {*modules}


@pytest.mark.integration
def test_collecting_all_tests_and_examples_loads_no_heavy_library() -> None:
    assert loaded_by_collecting() == set()


@pytest.mark.integration
def test_a_library_that_a_file_of_tests_imports_is_found(tmp_path: Path) -> None:
    planted = tmp_path / "test_planted.py"
    planted.write_text("import trimesh\n\n\ndef test_it() -> None:\n    assert trimesh\n")
    assert "trimesh" in loaded_by_collecting(planted)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("module", "examples"), [("fabkit/core/units.py", 4), ("fabkit/solid/export.py", 0)]
)
def test_only_modules_with_examples_are_collected_for_them(module: str, examples: int) -> None:
    program = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "fabkit"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.count(f"\n{module}::") == examples
