"""The shipped catalogs as plain documents, for tests that trust the files alone."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from tests.conftest import ROOT


@cache
def catalog_of(set_name: str) -> dict[str, Any]:
    """The document of a set's catalog, read once for all tests: copy it to change it."""
    path = ROOT / "pieces" / "catalogs" / f"{set_name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def snowflakes_of(set_name: str) -> list[dict[str, Any]]:
    """The snowflakes among the challenges of a set's catalog."""
    return [entry for entry in catalog_of(set_name)["challenges"] if "parity" in entry]
