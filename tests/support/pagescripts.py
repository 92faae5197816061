"""The page's rules without a page: its scripts that draw nothing, run by an engine of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.web.document import STATIC
from fabkit.output.web.linker import link
from fabkit.output.web.playdata import data_script, play_data

#: The modules that need no document, those that they import aside.
MODULES = ("play-game.js", "play-families.js")
#: What they ask of a browser.
BROWSER = "var window = globalThis; var performance = { now: () => Date.now() };"


class PageScripts:
    """The data of some challenges, and the scripts that know the rules."""

    def __init__(self, puzzle: PuzzleSet, entries: Sequence[Entry]) -> None:
        import quickjs

        self._context = quickjs.Context()
        self._context.eval(BROWSER)
        self._context.eval(data_script(play_data(puzzle, entries, 20.0)))
        self._context.eval(link(STATIC, *MODULES))
        self._context.eval("fabkitPlay.complete(FABKIT)")

    def evaluate(self, function: str, argument: Any = None) -> Any:
        """What a function of JavaScript returns, as in a browser."""
        call = f"JSON.stringify(({function})({json.dumps(argument)}) ?? null)"
        return json.loads(self._context.eval(call))
