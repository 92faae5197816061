"""Output of commands: tables and lines for people, one JSON document for scripts, progress."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fabkit.core.errors import escape
from fabkit.core.formats import json_text
from fabkit.core.progress import Progress, no_progress
from fabkit.core.signals import cleanup_on_signal

_SECONDS_BETWEEN_LINES = 2.0


class Report:
    """Print a command's output.

    Args:
        json: print one JSON document to standard output, and all else to standard error.
        quiet: print only errors and the JSON document.
        verbose: also print details.
    """

    def __init__(self, json: bool = False, quiet: bool = False, verbose: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self.verbose = verbose

    def info(self, *texts: str) -> None:
        """Print lines of the result."""
        for text in () if self.quiet else texts:
            if self.json:
                to_stderr(text)
            else:
                print(escape(text), flush=True)

    def wrote(self, files: str, folder: Path | str, is_new: bool) -> None:
        """Print where files are, and whether they have been written now."""
        verb, preposition = ("Wrote", "to") if is_new else ("Already up to date:", "in")
        self.info(f"{verb} {files} {preposition} {folder}")

    def detail(self, *texts: str) -> None:
        """Print lines with ``-v`` only."""
        if self.verbose:
            self.info(*texts)

    def warn(self, *texts: str) -> None:
        """Print warnings to standard error."""
        for text in () if self.quiet else texts:
            to_stderr(f"warning: {text}")

    def document(self, **fields: Any) -> None:
        """Print the JSON document with ``--json``."""
        if self.json:
            print(json_text(fields), end="", flush=True)

    def table(self, head: Sequence[str], values: Sequence[Sequence[object]]) -> None:
        """Print aligned columns, numbers to the right; not with ``--json``."""
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
            self.info("  ".join(cells).rstrip())

    @contextmanager
    def progress(self, of: str = "") -> Iterator[Progress]:
        """Show a bar on a terminal, a line every two seconds elsewhere, nothing with ``-q``.

        Args:
            of: what is shown after the share where there is no text, such as ``of the search``.
        """
        with self._showing() as show:
            yield lambda share, what: show(share, what or (f"{share:.1%} {of}" if of else ""))

    @contextmanager
    def _showing(self) -> Iterator[Progress]:
        """Yield a function that shows a text and a share, from 0 to 1."""
        if self.quiet:
            yield no_progress
        elif sys.stderr is None or not sys.stderr.isatty():
            yield _lines()
        else:
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = (BarColumn(), TextColumn("{task.description}"))
            with (
                cleanup_on_signal(_clear_line),
                Bar(*columns, console=Console(stderr=True), transient=True) as bar,
            ):
                task = bar.add_task("", total=1.0)
                yield lambda share, text: bar.update(
                    task, completed=share, description=escape(text)
                )


def to_stderr(text: str) -> None:
    """Print to standard error. A stream that is closed or full must not stop the work."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print("\n".join(map(escape, text.splitlines())), file=sys.stderr, flush=True)


def _clear_line() -> None:
    """Remove the bar, and show the cursor again."""
    os.write(sys.stderr.fileno(), b"\r\33[2K\33[?25h")


def _lines() -> Progress:
    last = time.monotonic()

    def show(share: float, text: str) -> None:
        nonlocal last
        if text and time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            to_stderr(text)

    return show


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "", 1).isdigit() or cell == ""
