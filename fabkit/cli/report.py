"""Printing: tables and sentences for people, one JSON document for scripts, progress for both."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import printable
from fabkit.core.files import json_text
from fabkit.core.signals import at_stop

if TYPE_CHECKING:
    from fabkit.build import Progress

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
        if self.quiet:
            return
        if self.json:
            to_stderr(text)
        else:
            print(printable(text))

    def detail(self, text: str) -> None:
        """A sentence that only ``-v`` asks for."""
        if self.verbose:
            self.say(text)

    def finding(self, ok: bool, text: str) -> None:
        """Something that was looked at: said if it fails, else only with ``-v``."""
        (self.detail if ok else self.say)(text)

    def warn(self, *texts: str) -> None:
        """What deserves a look."""
        for text in () if self.quiet else texts:
            to_stderr(f"note: {text}")

    def document(self, document: dict[str, Any]) -> None:
        """The JSON document, when it was asked for."""
        if self.json:
            print(json_text(document), end="")

    def table(self, head: Sequence[str], values: Sequence[Sequence[object]]) -> None:
        """Aligned columns for people; numbers to the right."""
        if self.json:
            return
        rows = [[str(value) for value in row] for row in values]
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
        with self._showing() as show:
            yield lambda done, total, name: show(
                f"{done}/{total} {name}" if total and name else name, done / max(total, 1)
            )

    @contextmanager
    def stages(self) -> Iterator[Callable[[str, float], None]]:
        """The same for work in several stages, each of which begins anew at nothing.

        Yields:
            What to call with what is being done and the share of it that is done.
        """
        with self._showing() as show:
            yield lambda of, share: show(f"{share:.1%} {of}", share)

    @contextmanager
    def shares(self, of: str) -> Iterator[Callable[[float], None]]:
        """The same for one stage, such as ``of the search``."""
        with self.stages() as told:
            yield lambda share: told(of, share)

    @contextmanager
    def _showing(self) -> Iterator[Callable[[str, float], None]]:
        """Shows a text, and a share of 1 as a bar."""
        if self.quiet:
            yield lambda text, share: None
        elif sys.stderr is None or not sys.stderr.isatty():
            yield _lines()
        else:
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (BarColumn(), TextColumn("{task.description}"))
            console = Console(stderr=True)
            with at_stop(_clear_line), Bar(*columns, console=console, transient=True) as bar:
                task = bar.add_task("", total=1.0)
                yield lambda text, share: bar.update(
                    task, completed=share, description=escape(text)
                )


def to_stderr(text: str) -> None:
    """A line on standard error. That nobody can read it (closed, full) must not stop the work."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print("\n".join(map(printable, text.splitlines())), file=sys.stderr, flush=True)


def _clear_line() -> None:
    """Takes a bar away, and shows the cursor that it has hidden."""
    os.write(sys.stderr.fileno(), b"\r\33[2K\33[?25h")


def _lines() -> Callable[[str, float], None]:
    last = time.monotonic()

    def show(text: str, share: float) -> None:
        nonlocal last
        if text and time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            to_stderr(text)

    return show


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "", 1).isdigit() or cell == ""
