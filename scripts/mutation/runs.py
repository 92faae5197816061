"""Runs of pytest in copies of a checkout."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Where the tests find what they share, from one run to the next.
STORE = Path(os.environ.get("FABKIT_TEST_STORE") or ROOT / ".pytest_cache" / "built")
#: A test that takes longer hangs, if it is not known how long its file takes; and what is added if
#: it is.
LIMIT_S, SPARE_S = 1800.0, 180.0
#: Address space of a process of the default tests, which need less than half of it. A browser
#: reserves more than there is.
MEMORY = 12 * 2**30


@dataclass(frozen=True)
class Run:
    """How a run of pytest ended.

    `seconds` has the tests that ended, `failed` those of them that failed, in order, and
    `unfinished` those that started but did not end.
    """

    code: int
    output: str
    seconds: dict[str, float] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()

    @property
    def catches(self) -> str:
        """The test that fails, or why the run ended; empty if none fails."""
        if self.code in {0, 5} and not self.unfinished:  # 5: there was none to run
            return ""
        if self.failed:
            return self.failed[0]
        lines = self.output.splitlines()
        broken = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        if broken:
            return broken[0].split(" - ")[0].partition(" ")[2]
        if self.unfinished:
            return f"{self.unfinished[0]} (hangs, or ends the run)"
        return "the run ends at once"


def copy_checkout(to: Path, tests: Path = ROOT) -> None:
    """Copy the files tracked by git, in their current state, and the kernels compiled from them.

    The folder `tests` is that of the other checkout. Copies keep their times, by which numba
    recognises the source of a kernel.
    """
    _copy_tracked(ROOT, to)
    if tests.resolve() != ROOT:
        shutil.rmtree(to / "tests")
        _copy_tracked(tests, to, "tests")
    for path in (ROOT / "fabkit").rglob("*.nb[ci]"):
        copied = to / path.relative_to(ROOT)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copied)


def _copy_tracked(checkout: Path, to: Path, *folders: str) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *folders], cwd=checkout, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (checkout / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(checkout / name, to / name)


@contextmanager
def copied(template: Path) -> Iterator[Path]:
    """A copy for one fault, with a store of its own: faults in solids would fill the shared one."""
    with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as name:
        copy = Path(name) / "checkout"
        shutil.copytree(template, copy)
        Path(name).chmod(0o755)  # some tests run as another user
        if STORE.is_dir():
            shutil.copytree(STORE, copy / ".pytest_cache" / "built", dirs_exist_ok=True)
        yield copy


def run_tests(
    copy: Path,
    *arguments: str,
    only: Collection[str] | None = None,
    without: Collection[str] = (),
    limits_s: Mapping[str, float] | None = None,
    store: Path | None = None,
    environment: dict[str, str] | None = None,
) -> Run:
    """Run pytest in a copy of the checkout.

    Args:
        only: ids of tests; those of the others that are collected do not run.
        without: ids of tests that do not run.
        limits_s: how long a test of a file may take.
        store: of what tests share; the copy's own if not given.
        environment: more variables.
    """
    integration = "--integration" in arguments
    with tempfile.TemporaryDirectory(prefix="trial-") as name:
        plan, record = Path(name, "plan.json"), Path(name, "record")
        document = {
            "only": None if only is None else list(only),
            "without": list(without),
            "limit_s": LIMIT_S,
            "limits_s": dict(limits_s or {}),
            "memory": None if integration else MEMORY,
            "record": str(record),
        }
        plan.write_text(json.dumps(document), encoding="utf-8")
        # With a space in place of the "=", pytest would take the folder of the plan for its root.
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "mutation.plugin", f"--trial={plan}", *arguments]
        paths = [str(copy), str(ROOT / "scripts"), os.environ.get("PYTHONPATH", "")]
        variables = {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "FABKIT_TEST_STORE": str(store or copy / ".pytest_cache" / "built"),
        }
        code, output = _run(command, copy, os.environ | variables | (environment or {}))
        text = record.read_text(encoding="utf-8") if record.exists() else ""
    return _as_run(code, output, [json.loads(line) for line in text.splitlines()])


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a command, then end what it has left running."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate()
        finally:
            if hasattr(os, "killpg"):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, output


def _as_run(code: int, output: str, records: list[list[Any]]) -> Run:
    started = [test for kind, test, *_ in records if kind == "started"]
    seconds = {test: took[0] for kind, test, *took in records if kind != "started"}
    failed = tuple(test for kind, test, *_ in records if kind == "failed")
    unfinished = tuple(test for test in started if test not in seconds)
    return Run(code, output, seconds, failed, unfinished)
