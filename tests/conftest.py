"""Shared by all tests: the --slow and --long options, and a place of its own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

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
