"""Shared by all tests: which of them run, a small set, and commands with --json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# How long an example takes is the machine's, and what else runs on it.
hypothesis.settings.register_profile("fabkit", deadline=None)
hypothesis.settings.load_profile("fabkit")

#: The checkout.
ROOT = Path(__file__).resolve().parent.parent
#: What markers ask for, and how long such tests take.
OPTIONS = {"slow": "minutes", "long": "an hour together"}


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, takes in OPTIONS.items():
        text = f"also run the tests that take {takes}"
        parser.addoption(f"--{name}", action="store_true", help=text)
    text = "run one test in N of those that would run"
    parser.addoption("--one-in", type=int, default=1, metavar="N", help=text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _thin_out(items)
    _skip_unless_asked(config, items)
    each = config.getoption("--one-in")
    if each < 1:
        raise pytest.UsageError(f"--one-in: expected 1 or more, found {each}")
    left_out = pytest.mark.skip(reason=f"one test in {each} runs")
    running = [item for item in items if not item.get_closest_marker("skip")]
    for number, item in enumerate(running):
        if number % each:
            item.add_marker(left_out)


def _thin_out(items: list[pytest.Item]) -> None:
    """Of a test marked ``every(n)``, one case in n stays; the others wait for --slow.

    Those of a slow test wait for --long.
    """
    seen: Counter[tuple[str, bool]] = Counter()
    for item in items:
        marker = item.get_closest_marker("every")
        if marker is None or "long" in item.keywords:
            continue
        test = item.nodeid.partition("[")[0], "slow" in item.keywords
        if seen[test] % marker.args[0]:
            item.add_marker(pytest.mark.long if "slow" in item.keywords else pytest.mark.slow)
        seen[test] += 1


def _skip_unless_asked(config: pytest.Config, items: list[pytest.Item]) -> None:
    for name, takes in OPTIONS.items():
        skip = pytest.mark.skip(reason=f"takes {takes}; run scripts/test --{name}")
        for item in items:
            if name in item.keywords and not config.getoption(f"--{name}"):
                item.add_marker(skip)


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a set of two pieces, in a folder of its own where the test stands."""
    from tests.support.pairset import PAIR

    (tmp_path / "pair.toml").write_text(PAIR)
    monkeypatch.chdir(tmp_path)
    return "pair.toml"


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command with --json and returns its document."""
    from fabkit.cli import main

    def run(*arguments: str, code: int = 0) -> Any:
        capsys.readouterr()
        assert main([*arguments, "--json"]) == code, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return run
