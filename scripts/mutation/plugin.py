"""Pytest plugin of a trial: runs the chosen tests only, and writes down how each of them ends.

``--trial=FILE`` names a JSON file: the ids of ``only`` these tests (null for all that are
collected), those of tests to go on ``without``, ``limit_s`` for a test and ``limits_s`` for those
of some files, ``memory`` in bytes or null, and the file of the ``record``. That one gets a line of
JSON for each test that starts or ends, so that it can also be read if a test ends the whole run.
"""

from __future__ import annotations

import faulthandler
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

#: The file descriptor, which is there whatever a test has made of `sys.stderr`.
_STANDARD_ERROR = 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--trial", help="JSON file: what to run, and where to write how it ends")


def pytest_configure(config: pytest.Config) -> None:
    plan = json.loads(Path(config.getoption("--trial")).read_text(encoding="utf-8"))
    _limit_memory(plan["memory"])
    config.pluginmanager.register(_Chooser(plan))
    if not hasattr(config, "workerinput"):  # else the process that started this one writes
        config.pluginmanager.register(_Recorder(Path(plan["record"])))


def _limit_memory(size: int | None) -> None:
    """A fault in a loop's condition must not take all the memory of the machine."""
    try:
        import resource
    except ImportError:  # on Windows
        return
    if size is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class _Chooser:
    """Leaves out tests after conftest.py has, which counts the cases of a test.

    Ids on the command line would change these counts.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        self._only = None if plan["only"] is None else frozenset(plan["only"])
        self._without = frozenset(plan["without"])
        self._limit_s: float = plan["limit_s"]
        self._limits_s: dict[str, float] = plan["limits_s"]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        chosen = [item for item in items if self._is_chosen(item.nodeid)]
        left_out = [item for item in items if not self._is_chosen(item.nodeid)]
        items[:] = chosen
        config.hook.pytest_deselected(items=left_out)

    def _is_chosen(self, test: str) -> bool:
        return test not in self._without and (self._only is None or test in self._only)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """End the whole run if a test hangs, also in compiled code."""
        limit_s = self._limits_s.get(item.nodeid.partition("::")[0], self._limit_s)
        faulthandler.dump_traceback_later(limit_s, exit=True, file=_STANDARD_ERROR)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()


class _Recorder:
    """Writes down when tests start and how they end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._failed: set[str] = set()

    def _write(self, *fields: Any) -> None:
        with self._path.open("a", encoding="utf-8") as record:
            record.write(f"{json.dumps(fields)}\n")

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write("started", nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when == "teardown":
            outcome = "failed" if report.nodeid in self._failed else "ended"
            self._write(outcome, report.nodeid, self._seconds[report.nodeid])
