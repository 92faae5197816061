"""Shared by all tests: which of them run, a small set, and commands with --json.

Three tiers: the default run touches every command, rule and engine on real input, with nothing but
what ``scripts/test`` installs; tests marked ``integration`` need a cluster or whole documents, kill
processes, or need a program from outside, which ``needs`` names; tests marked ``long`` are more of
the same.

Of a test with many cases of a kind a run may try only some, others with each commit: ``in_turn``
and ``every`` say so. The first line of a run names its turn, and with that name in FABKIT_TEST_TURN
the same cases run again.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import shutil
import signal
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# How long an example takes is the machine's, and what else runs on it.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=20, derandomize=True)
hypothesis.settings.register_profile("integration", deadline=None, max_examples=60)
hypothesis.settings.register_profile("long", deadline=None, max_examples=400)

#: The checkout.
ROOT = Path(__file__).resolve().parent.parent
#: The tiers beside the default one, and how long such tests take.
TIERS = {"integration": "half an hour", "long": "an hour and a half together"}
#: How many tests were left to tiers that were not asked for, by option.
left_out: dict[str, int] = {}


def _turn() -> str:
    """What decides which cases run: the commit, or what the environment names instead.

    Without git, as in an unpacked archive, it is always the same.
    """
    if named := os.environ.get("FABKIT_TEST_TURN"):
        return named
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "first"
    return done.stdout.strip()


#: The turn of this run, which workers take from the process that starts them.
TURN = os.environ["FABKIT_TEST_TURN"] = _turn()


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, takes in TIERS.items():
        text = f"also run the tests that take {takes}"
        parser.addoption(f"--{name}", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    # A shell that starts a run in the background makes it ignore Ctrl-C and hangups, and children
    # inherit that.
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    for one, handler in usual.items():
        if signal.getsignal(one) is signal.SIG_IGN:
            signal.signal(one, handler)
    tiers = ["quick", *(name for name in TIERS if config.getoption(f"--{name}"))]
    hypothesis.settings.load_profile(tiers[-1])
    _read_shipped_sets_once()
    gc.disable()  # until all tests are collected: nothing of that is garbage


def pytest_report_header() -> str:
    return f"turn: {TURN} (FABKIT_TEST_TURN={TURN} runs the same cases again)"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _require_programs(items)
    _take_turns(items)
    others = {
        item: f"--{name}"
        for name in reversed(TIERS)
        for item in items
        if name in item.keywords and not config.getoption(f"--{name}")
    }
    left_out.update(Counter(others.values()))
    items[:] = [item for item in items if item not in others]
    config.hook.pytest_deselected(items=[*others])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """The last line says how many tests were left to other tiers, instead of a line for each."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = dict(left_out)
        return (yield)
    yield
    if left_out:
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        count, options = sum(left_out.values()), ", ".join(sorted(left_out))
        tests = "1 test" if count == 1 else f"{count} tests"
        reporter.write_line(f"{tests} left to the other tiers: {options}")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects all tests, so that the numbers of one are those of the run."""
    left_out.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_collection_finish() -> None:
    """What is imported by now stays: to look through it for garbage takes a tenth of a run."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(100_000, 20, 100)


def _read_shipped_sets_once() -> None:
    """Each worker reads a shipped set once, not for each command.

    Nothing that is read can be changed. Processes that tests start read for themselves.
    """
    from fabkit.sets import set_file
    from fabkit.sets.library import shipped_folder

    read_set = set_file.read_set
    sets: dict[tuple[Path, str | None], Any] = {}

    def read_set_once(
        path: Path, source: str | None = None, text: str | None = None, document: Any = None
    ) -> Any:
        if path.parent != shipped_folder() or text is not None:
            return read_set(path, source, text, document)
        if (path, source) not in sets:
            sets[path, source] = read_set(path, source)
        return sets[path, source]

    set_file.read_set = read_set_once


def _take_turns(items: list[pytest.Item]) -> None:
    """Leave some cases of a test to another tier: the turn draws which.

    Of a test marked ``in_turn`` one case stays, and the others are of integration; of one marked
    ``every(n)`` one case in n stays, and the others wait for --long.
    """
    cases: defaultdict[tuple[str, int, bool], list[pytest.Item]] = defaultdict(list)
    for item in items:
        every, in_turn = map(item.get_closest_marker, ("every", "in_turn"))
        is_of_integration = item.get_closest_marker("integration") is not None
        if item.get_closest_marker("long") is None and (
            every or (in_turn and not is_of_integration)
        ):
            one_in = every.args[0] if every else 0
            cases[item.nodeid.partition("[")[0], one_in, is_of_integration].append(item)
    for (test, one_in, _), cases_of_test in cases.items():
        step = min(one_in or len(cases_of_test), len(cases_of_test))
        kept = int(hashlib.sha256(f"{TURN} {test}".encode()).hexdigest(), 16) % step
        for index, item in enumerate(cases_of_test):
            if index % step != kept:
                item.add_marker("long" if one_in else "integration")


def _require_programs(items: list[pytest.Item]) -> None:
    """A test marked ``needs(program, ...)`` needs one of these, and is one of integration."""
    for item in items:
        for marker in item.iter_markers("needs"):
            item.add_marker(pytest.mark.integration)
            if not any(map(shutil.which, marker.args)):
                reason = f"needs {marker.args[0]}: apt install {marker.args[0]}"
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def _build_quickly() -> Iterator[None]:
    """Commands in this process use one core, as another has tests of its own, draw small covers,
    and build a solid once, whatever the test."""
    from fabkit.build.artifacts import Artifacts

    build, solids = Artifacts.solid, {}

    def solid(self: Artifacts, printable: Any) -> Any:
        from fabkit.solid import builder

        key = builder.build_solid, pickle.dumps(self.drawings[printable.id])
        if key not in solids:
            if len(solids) > 100:  # some are of megabytes
                solids.clear()
            solids[key] = build(self, printable)
        return solids[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Artifacts, "solid", solid)
        patch.setattr("fabkit.output.render.cover._COVER_PIXELS", 240)
        patch.setattr("fabkit.jobs.parallel.core_count", lambda: 1)
        yield


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the test stands."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a set of two pieces, in a folder of its own where the test stands.

    Its plates and sheets are nested as without spyrrow, which takes a process for each.
    """
    from tests.support.pairset import PAIR

    (tmp_path / "pair.toml").write_text(PAIR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fabkit.printing.nesting.nest.is_available", bool)
    return "pair.toml"


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command with --json and returns its document."""
    from fabkit.cli import main

    def run(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert main([*arguments, "--json"]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run
