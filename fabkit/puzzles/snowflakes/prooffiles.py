"""The proofs of a search as files."""

from __future__ import annotations

from collections.abc import Iterator

from fabkit.core.files import json_text
from fabkit.puzzles.snowflakes.proof import document
from fabkit.puzzles.snowflakes.search import Searched
from fabkit.puzzles.snowflakes.tiling import IMPOSSIBLE
from fabkit.puzzles.snowflakes.wish import Wish


def files(wish: Wish, found: Searched) -> Iterator[tuple[str, str]]:
    """The proofs of one parity as files.

    Yields:
        A name and a text: one file for all that a search proved, and a formula with its refutation
        for each that was left to CaDiCaL.
    """
    said = [shape.outcome for shape in found.shapes if shape.verdict == IMPOSSIBLE]
    by_search = [one["proof"] for one in said if one["engine"] == "search"]
    kind = wish.kind(found.parity)
    text = document(wish.puzzle.name, kind.field(0), kind.chosen, wish.flips, by_search)
    yield f"{found.parity}.json", json_text(text, indent=None)
    for one in said:
        if one["engine"] == "sat":
            name = f"{found.parity}-{one['sha256'][:12]}"
            yield f"{name}.cnf", one["proof"]["cnf"]
            yield f"{name}.drat", one["proof"]["drat"]
