"""A plugin of pytest: of all modules, those with examples in docstrings are collected for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Iterator[Any]:
    """A module without examples is not imported to look for some.

    That takes several seconds, in each process that runs tests: CadQuery is among what modules
    import.
    """
    collectors = yield
    if file_path.suffix != ".py" or ">>>" in file_path.read_text(encoding="utf-8"):
        return collectors
    return [one for one in collectors if not isinstance(one, DoctestModule)]
