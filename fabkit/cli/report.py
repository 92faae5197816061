"""Printing: tables and sentences for people, one JSON document for scripts, progress for both."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fabkit.base.files import json_text
from fabkit.plan.export import Progress

_SECONDS_BETWEEN_LINES = 2.0


class Report:
    """Where a command's output goes.

    Args:
        json: standard output carries one JSON document; all else goes to standard error.
        quiet: only errors and the JSON document are printed.
        verbose: details are printed too.
    """

    def __init__(self, json: bool = False, quiet: bool = False, verbose: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self.verbose = verbose

    def say(self, text: str) -> None:
        """A sentence of the result."""
        if not self.quiet:
            print(text, file=sys.stderr if self.json else sys.stdout)

    def detail(self, text: str) -> None:
        """A sentence that only ``-v`` asks for."""
        if self.verbose:
            self.say(text)

    def warn(self, text: str) -> None:
        """Something that deserves a look."""
        if not self.quiet:
            print(f"note: {text}", file=sys.stderr)

    def document(self, document: dict[str, Any]) -> None:
        """The JSON document, when it was asked for."""
        if self.json:
            sys.stdout.write(json_text(document))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Aligned columns; numbers to the right."""
        columns = list(zip(head, *rows, strict=True))
        widths = [max(len(cell) for cell in column) for column in columns]
        right = [all(_is_number(cell) for cell in column[1:]) for column in columns]
        for row in (head, *rows):
            cells = (
                cell.rjust(width) if is_right else cell.ljust(width)
                for cell, width, is_right in zip(row, widths, right, strict=True)
            )
            self.say("  ".join(cells).rstrip())

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """A progress bar on a terminal, a line every other second elsewhere, nothing with -q."""
        if self.quiet:
            yield lambda done, total, name: None
        elif sys.stderr.isatty():
            with _bar() as told:
                yield told
        else:
            yield _lines()


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def told(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=escape(name))

        yield told


def _lines() -> Progress:
    last = time.monotonic()

    def told(done: int, total: int, name: str) -> None:
        nonlocal last
        if name and time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            print(f"{done}/{total} {name}", file=sys.stderr, flush=True)

    return told


def many(count: int, noun: str) -> str:
    """A count with its noun.

    Example:
        >>> many(1, "magnet"), many(21, "magnet")
        ('1 magnet', '21 magnets')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).isdigit() or cell == ""
