"""Compiled code is kept where that is possible, and nothing goes wrong where it is not."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.cli.warm_up import MODULES
from fabkit.core.kernels import KERNELS
from tests.conftest import ROOT
from tests.support.pairset import PAIR


@pytest.fixture(autouse=True)
def _as_numba_is_set_up_usually() -> None:
    import numba

    if numba.config.DISABLE_JIT or numba.config.CACHE_DIR:
        pytest.skip("numba is set up otherwise")


COUNT = ["solve", "fridgeiq", "square_01", "--count"]
ANSWER = "square_01: 4 solutions, 1 up to symmetry\n"


# --- an installed package
# ---------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the package without anything compiled."""
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "fabkit", tmp_path / "fabkit", ignore=leave)
    shutil.copytree(ROOT / "pieces", tmp_path / "pieces")
    (tmp_path / "home").mkdir()
    return tmp_path


def run(
    folder: Path,
    *arguments: str,
    home: str = "home",
    code: str = "from fabkit.cli import main; raise SystemExit(main())",
) -> tuple[str, list[str]]:
    """Runs the copy; returns standard output, and standard error but for progress.

    Warnings are shown that are usually hidden.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    kept = {"HOME": str(folder / home), "XDG_CACHE_HOME": str(folder / home / "cache")}
    done = subprocess.run(
        [sys.executable, "-W", "always::UserWarning", "-c", code, *arguments],
        capture_output=True, text=True, check=True, cwd=folder,
        env={**clean, **kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(folder)},
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if "% of the" not in line]


def compiled(folder: Path) -> dict[str, int]:
    """The files of compiled code by name, with the time at which each was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}


@pytest.mark.integration
def test_a_second_run_compiles_nothing(installed: Path) -> None:
    code = "import fabkit; from fabkit.sets.library import shipped_folder as pieces;"
    out, _ = run(installed, code=f"{code} print(fabkit.__file__, pieces(), sep='\\n')")
    assert [Path(line).is_relative_to(installed) for line in out.splitlines()] == [True, True]
    assert run(installed, *COUNT) == (ANSWER, [])
    kept = compiled(installed)
    assert {Path(name).suffix for name in kept} == {".nbi", ".nbc"}
    assert {path.parent.name for path in installed.rglob("*.nb?")} == {"__pycache__"}
    code = (
        "from fabkit.cli import main; main(); from fabkit.solve.engines import bitmask;"
        "stats = bitmask._bitmask_search.stats;"
        "print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))"
    )
    assert run(installed, *COUNT, code=code) == (f"{ANSWER}1 0\n", [])
    assert compiled(installed) == kept


@pytest.mark.integration
def test_beside_a_read_only_package_the_user_s_folder_is_used(installed: Path) -> None:
    (installed / "fabkit/solve/engines/__pycache__").write_text("")
    assert run(installed, *COUNT) == (ANSWER, [])
    kept = compiled(installed / "home")
    assert kept
    assert run(installed, *COUNT) == (ANSWER, [])
    assert compiled(installed / "home") == kept


@pytest.mark.integration
@pytest.mark.parametrize("engine", ["search", "count"])
def test_every_kernel_works_without_a_place(installed: Path, engine: str) -> None:
    """Files where folders would have to be stop even root."""
    (installed / "fabkit/solve/engines/__pycache__").write_text("")
    (installed / "nowhere").write_text("")
    arguments = ["solve", "fridgeiq", "square_02", "--count", "--engine", engine]
    plain, _ = run(ROOT, *arguments, home="/nowhere")
    assert run(installed, *arguments, home="nowhere/home") == (plain, [])
    assert compiled(installed) == {}


#: Commands that together call every kernel.
CALLERS = [
    "solve iqblock",
    "solve iqfit --count --engine count",
    "solve fridgeiq square_01 --difficulty",
    "snowflakes fridgeiq --pieces IJMR --workers 1",
    "export-stl pair.toml",
    "check pair.toml --printer-error 0.05mm",
]
CALL_ALL = f"""
from fabkit.cli import main
for command in {CALLERS}:
    assert main(command.split() + ["-q"]) == 0, command
from fabkit.jobs.run import Pool
from fabkit.sets.library import load_set
from fabkit.solve.each import EachQuery, solve_each
solve_each(EachQuery(load_set("calendar"), "date", "first"), Pool())
from fabkit.core.kernels import KERNELS
for kernel in KERNELS:
    assert kernel.signatures == [kernel.types], (kernel, kernel.signatures)
    assert not kernel.stats.cache_misses, kernel
print(len(KERNELS))
"""


@pytest.mark.integration
def test_after_a_warm_up_no_command_compiles(installed: Path) -> None:
    """Every kernel is called with the types that it declares, so there is no other variant."""
    out, _ = run(installed, "warm-up")
    compiled_line = re.fullmatch(r"Compiled (\d+) kernels to (.*) \((?:\d+\.\d s|\d+ min)\)\n", out)
    assert compiled_line is not None
    count, folder = compiled_line.groups()
    assert folder == str(installed / "fabkit")
    out, _ = run(installed, "warm-up")
    assert out == f"Already up to date: {count} kernels in {folder}\n"
    (installed / "pair.toml").write_text(PAIR)
    assert run(installed, code=CALL_ALL)[0].splitlines()[-1] == count


def test_a_warm_up_knows_every_module_with_kernels() -> None:
    marked = [
        path for path in (ROOT / "fabkit").rglob("*.py") if "\n@kernel(" in path.read_text("utf-8")
    ]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in marked}
    assert names - {"fabkit.solve.engines.option_lists"} == {*MODULES}  # which import that


def test_a_warm_up_without_a_place_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from numba.core.caching import NullCache

    import_module("fabkit.solve.engines.frontier")
    monkeypatch.setattr(KERNELS[0], "_cache", NullCache())  # of all it would take a minute
    assert main(["warm-up", "-q"]) == 3
    assert (
        "neither fabkit's folder nor the user's cache folder is writable" in capsys.readouterr().err
    )


# --- one small kernel
# -------------------------------------------------------------------------------

KERNEL = """
from fabkit.core.kernels import ONE, kernel, trailing_zeros

@kernel("u8,")
def lowest(word):
    return trailing_zeros(word | ONE << ONE)
"""


@pytest.fixture
def load(tmp_path: Path) -> Callable[[], Any]:
    """Loads a module with a kernel as a new process would."""
    path = tmp_path / "small.py"
    path.write_text(KERNEL)

    def fresh() -> Any:
        spec = importlib.util.spec_from_file_location("small", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.lowest

    return fresh


def answers(kernel: Any) -> tuple[int, int]:
    """Whether it was found in the cache, or missed; its answer has to be right."""
    from numpy import uint64

    assert int(kernel(uint64(12))) == 1
    return sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())


HIT, MISSED = (1, 0), (0, 1)


def halved(content: bytes) -> bytes:
    """As after a power failure: the length is right, the end was never written."""
    return content[: len(content) // 2] + bytes(len(content) - len(content) // 2)


HARMS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("nbi", lambda content: b""),
    ("nbi", halved),
    ("nbc", lambda content: content[:50]),
    ("nbc", lambda content: bytes(len(content))),
]


def test_a_damaged_file_is_replaced(load: Callable[[], Any], tmp_path: Path) -> None:
    assert answers(load()) == MISSED
    for which, harm in HARMS:
        assert answers(load()) == HIT
        (damaged,) = tmp_path.rglob(f"*.{which}")
        damaged.write_bytes(harm(damaged.read_bytes()))
        assert answers(load()) == MISSED
    path = tmp_path / "small.py"
    path.write_text(re.sub(r"ONE << ONE", "ONE + ONE", path.read_text()))
    assert answers(load()) == MISSED
    kernel = load()
    shutil.rmtree(tmp_path / "__pycache__")
    assert answers(kernel) == MISSED
    assert answers(load()) == HIT


def test_where_nothing_can_be_kept_it_is_compiled_anew(
    load: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only package and an unusable home: files where folders are expected."""
    for name in ("__pycache__", "nowhere"):
        (tmp_path / name).write_text("")
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere" / "home"))
    assert [int(load()(8)) for _ in range(2)] == [1, 1]
    assert not list(tmp_path.rglob("*.nb?"))


def refuse(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["_save_index", "_save_data", "_open_for_write"])
def test_what_cannot_be_kept_is_compiled_again(
    step: str, load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from numba.core.caching import IndexDataCacheFile

    with monkeypatch.context() as full:
        full.setattr(IndexDataCacheFile, step, refuse)
        assert answers(load()) == MISSED
        assert answers(load()) == MISSED
    assert answers(load()) == MISSED
    assert answers(load()) == HIT
