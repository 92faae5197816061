"""Shared by all tests: the --slow and --long options, a small set, and commands with --json."""

from __future__ import annotations

import json
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for name, takes in OPTIONS.items():
        skip = pytest.mark.skip(reason=f"takes {takes}; run scripts/test --{name}")
        for item in items:
            if name in item.keywords and not config.getoption(f"--{name}"):
                item.add_marker(skip)


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The file of a set of two pieces, in a folder of its own where the test stands."""
    from tests.pairset import PAIR

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
