"""The run without a fault: which tests pass, how long they take, and which lines they execute."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

from mutation.mutant import Mutant
from mutation.runs import ROOT, SPARE_S, STORE, run_tests

#: Runs without a fault, by the code and the tests; the oldest go.
KEPT = ROOT / ".pytest_cache" / "mutants"
_COUNT_KEPT = 4
#: A fault may make the tests of a file take this many times longer.
_TIMES_LONGER = 10
#: On these the run depends, as far as it matters here.
_DEPENDS = ("fabkit", "tests", "pieces", "pyproject.toml")
#: Names files relative to the copy, which has another path in the next run.
_CONFIG = "[run]\nrelative_files = True\n"
#: The tracer that sees a line again in each test; the newer one of Python 3.12 does so only once.
_TRACER = {"COVERAGE_CORE": "ctrace"}


@dataclass(frozen=True)
class Baseline:
    """The default tests that pass without a fault, with their seconds, and those that fail.

    `folder` is where it is kept; a change of the code or the tests makes another one.
    """

    seconds: dict[str, float]
    failed: frozenset[str]
    coverage: CoverageData
    folder: Path

    @cached_property
    def limits_s(self) -> dict[str, float]:
        """How long one test of a file may take: what all take, since one alone makes what they
        share.
        """
        limits: dict[str, float] = defaultdict(lambda: SPARE_S)
        for test, seconds in self.seconds.items():
            limits[file_of(test)] += _TIMES_LONGER * seconds
        return dict(limits)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that execute the lines of a fault, those of the quickest file first.

        None are known for lines that numba compiles, that run in other processes only, or at
        import. Nor for what an earlier test has left in a cache, so that more than these must pass
        before a fault counts as not caught.
        """
        contexts = self.coverage.contexts_by_lineno(mutant.file)
        names = {name for line in mutant.lines for name in contexts.get(line, [])}
        tests = {name.rpartition("|")[0] for name in names} & self.seconds.keys() - self.failed
        of_file: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests):
            of_file[file_of(test)].append(test)
        groups = sorted(
            of_file.values(), key=lambda group: sum(map(self.seconds.__getitem__, group))
        )
        return [test for group in groups for test in group]


def file_of(test: str) -> str:
    """Return the file of a test, given its id."""
    return test.partition("::")[0]


def files_of(tests: Iterable[str]) -> list[str]:
    """Return the files of some tests, each once, in the order of the tests."""
    return list(dict.fromkeys(map(file_of, tests)))


def read_baseline(template: Path) -> Baseline:
    """Run the default tests in a copy without faults, or read what is kept of an earlier run.

    Raises:
        SystemExit: if no test passes, or none is known to execute any line.
    """
    folder = KEPT / _digest(template)
    if not (folder / "tests.json").exists():
        print(
            "mutants: running the default tests once, to see which lines each executes", flush=True
        )
        _measure(template, folder)
    document = json.loads((folder / "tests.json").read_text(encoding="utf-8"))
    coverage = CoverageData(str(folder / "coverage"))
    coverage.read()
    return Baseline(document["seconds"], frozenset(document["failed"]), coverage, folder)


def _measure(template: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = folder / "coveragerc"
    config.write_text(_CONFIG, encoding="utf-8")
    run = run_tests(
        template,
        *("-n", "2"),  # with 0, and --dist in pyproject.toml, pytest-cov names no tests
        *("--cov=fabkit", "--cov-context=test", "--cov-report=", f"--cov-config={config}"),
        store=STORE,
        environment={**_TRACER, "COVERAGE_FILE": str(folder / "coverage")},
    )
    if len(run.failed) == len(run.seconds) or not (folder / "coverage").exists():
        raise SystemExit(f"mutants: no test passes without a fault\n{run.output[-3000:]}")
    coverage = CoverageData(str(folder / "coverage"))
    coverage.read()
    if coverage.measured_contexts() <= {""}:
        raise SystemExit("mutants: pytest-cov has not noted which test executes which lines")
    document = {"seconds": run.seconds, "failed": run.failed}
    (folder / "tests.json").write_text(json.dumps(document), encoding="utf-8")
    older = sorted(KEPT.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in older[:-_COUNT_KEPT]:
        shutil.rmtree(path)


def _digest(template: Path) -> str:
    """Hash the files on which the run depends."""
    turn = os.environ.get("FABKIT_TEST_TURN", "")  # which decides what cases run
    seen = hashlib.sha256(f"{sys.version} {turn}".encode())
    for path in sorted(template.rglob("*")):
        name = path.relative_to(template)
        is_compiled = "__pycache__" in name.parts
        if path.is_file() and name.parts[0] in _DEPENDS and not is_compiled:
            seen.update(name.as_posix().encode())
            seen.update(hashlib.sha256(path.read_bytes()).digest())
    return seen.hexdigest()[:16]
