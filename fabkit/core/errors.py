"""Errors as data: the class decides the exit code, each detail names the place.

Only ``fabkit.cli`` prints them and exits.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SHOWN_LENGTH = 60
_SHOWN_DEPTH = 4
_MAX_NAMED = 40
_MAX_ERRORS = 50


def quote(value: object) -> str:
    r"""Format an untrusted value for a message: TOML notation, truncated, printable.

    Example:
        >>> quote("red\x1b[31m"), quote([True, 2.5, ["a"]])
        ('"red\\x1b[31m"', '[true, 2.5, ["a"]]')
    """
    if isinstance(value, str):
        return f'"{truncate(escape(value))}"'
    return truncate(escape(_as_toml(value, _SHOWN_DEPTH)))


def _as_toml(value: object, depth: int) -> str:
    if isinstance(value, bool | str):
        return str(value).lower() if isinstance(value, bool) else f'"{value}"'
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return "a list of tables"
    if isinstance(value, list):
        items = (_as_toml(item, depth - 1) for item in value[:_SHOWN_LENGTH])
        return f"[{', '.join(items) if depth else '…'}]"
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python will print
        return "a number of thousands of digits"


def escape(text: str) -> str:
    """Escape line breaks, control characters and direction marks; the rest is unchanged."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def truncate(text: str, maximum: int = _SHOWN_LENGTH) -> str:
    """Truncate text to at most ``maximum`` characters."""
    return text if len(text) <= maximum else text[: maximum - 1] + "…"


def pluralize(count: int, noun: str) -> str:
    """Format a count with its noun and thousands separators.

    Example:
        >>> pluralize(1, "magnet"), pluralize(2100, "magnet")
        ('1 magnet', '2,100 magnets')
    """
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def join_names(names: Sequence[str], maximum: int = _MAX_NAMED) -> str:
    """Join names with commas; of very many only the first.

    Example:
        >>> join_names(["A", "B", "C"], maximum=2)
        'A, B and 1 more'
    """
    more = f" and {len(names) - maximum} more" if len(names) > maximum else ""
    return ", ".join(names[:maximum]) + more


def join_or(names: Sequence[str]) -> str:
    """Join alternatives, as in ``A, B or C``."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def install_hint(extra: str) -> str:
    """Explain in a message how to install an extra of fabkit."""
    # `scripts/fabkit` runs in its own environment with an editable install.
    pip = ".venv/bin/pip install -e" if Path(sys.prefix).name == ".venv" else "pip install"
    return f"in a clone of fabkit: {pip} '.[{extra}]'"


@contextmanager
def require_library(user: str, library: str, how: str) -> Iterator[None]:
    """Turn a failed import inside into an error that explains how to install the library.

    Args:
        user: what needs it, such as ``the engine mip``.

    Raises:
        ExternalError: if the import fails.
    """
    try:
        yield
    except ModuleNotFoundError:
        raise ExternalError(f"{user} needs {library}; install it {how}") from None
    except ImportError as error:
        reason = escape(str(error))
        raise ExternalError(f"{user} needs {library}, which cannot be loaded: {reason}") from None


def nearest(name: str, choices: Sequence[str]) -> str:
    """Return the choice that was probably meant, by prefix or similarity; empty if none."""
    beginning = [match for match in choices if len(name) > 2 and match.startswith(name)]
    ending = [match for match in choices if match.endswith(f".{name}")]
    alike = difflib.get_close_matches(name[:80], choices, n=1, cutoff=0.6)
    return [*beginning, *(ending if len(ending) == 1 else []), *alike, ""][0]


def did_you_mean(name: str, choices: Sequence[str]) -> str:
    """Return a question to append to a message; empty when no choice is similar."""
    match = nearest(name, choices)
    return f'; did you mean "{match}"?' if match else ""


def no_such(noun: str, name: str, choices: Sequence[str], maximum: int = _MAX_NAMED) -> str:
    """Return the message for an unknown name: what to choose from, and what was probably meant."""
    by_lower = {choice.lower(): choice for choice in reversed(choices)}
    meant = by_lower.get(nearest(name.lower(), list(by_lower)), "")
    hint = did_you_mean(name, choices) or did_you_mean(meant, choices)
    return f"there is no {noun} {quote(name)}; choose from {join_names(choices, maximum)}{hint}"


@dataclass(frozen=True)
class ErrorDetail:
    """One error and its key, such as ``piece[3].outline``; empty for the whole source.

    Its line is 0 where it is not known: see `fabkit.core.lines.located`.
    """

    key: str
    message: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.key}: {self.message}" if self.key else self.message


class FabkitError(Exception):
    """Base of all errors that fabkit raises deliberately, with the command's ``exit_code``."""

    exit_code = 1


class InputError(FabkitError):
    """Invalid input: a file, a value, an argument. Carries all errors found.

    Attributes:
        source: the offending file or option, such as ``mine.toml``; may be empty.
        errors: at least one, in the order found.
        omitted: how many more there were.
    """

    exit_code = 2

    def __init__(self, source: str, errors: Iterable[ErrorDetail], omitted: int = 0) -> None:
        self.source = source
        self.errors = tuple(errors)
        self.omitted = omitted
        super().__init__(self.render())

    def __reduce__(self) -> tuple[Any, ...]:  # pickled by worker processes
        return type(self), (self.source, self.errors, self.omitted)

    @classmethod
    def of(cls, source: str, message: str, key: str = "") -> InputError:
        """Create an error with a single detail."""
        return cls(source, [ErrorDetail(key, message)])

    def render(self) -> str:
        """Return the whole message: one line for one error, a list for several."""
        prefix = f"{self.source}: " if self.source else ""
        errors = [
            f"{self.source}:{error.line}: {error}" if error.line else str(error)
            for error in self.errors
        ]
        count = len(self.errors) + self.omitted
        if count == 1:
            return errors[0] if self.errors[0].line else prefix + errors[0]
        lines = [f"{prefix}{count} errors", *(f"  {error}" for error in errors)]
        lines += [f"  … and {self.omitted} more"] if self.omitted else []
        return "\n".join(lines)


class ErrorList:
    """The errors of one file. The first fifty are kept, the others counted.

    ``source`` begins the message.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.count = 0
        self._kept: list[ErrorDetail] = []

    def add(self, key: str, message: str) -> None:
        """Record an error at a place such as ``piece[3].outline``; an empty message is none."""
        self.count += bool(message)
        if message and len(self._kept) < _MAX_ERRORS:
            self._kept.append(ErrorDetail(key, message))

    def extend(self, details: Iterable[ErrorDetail]) -> None:
        """Record several errors."""
        for detail in details:
            self.add(detail.key, detail.message)

    def raise_if_any(self) -> None:
        """Raise `InputError` with all recorded errors, if any."""
        if self.count:
            raise InputError(self.source, self._kept, self.count - len(self._kept))


class ExternalError(FabkitError):
    """An external failure: a full disk, a folder in use, a missing program."""

    exit_code = 3


@contextmanager
def library_failures(name: Callable[[], str]) -> Iterator[None]:
    """Convert the errors of libraries, which raise other types; `name` returns what was being made.

    Raises:
        ExternalError: instead of the library's error.
    """
    try:
        yield
    except (FabkitError, OSError, KeyboardInterrupt, MemoryError):
        raise
    except ImportError as error:
        reason = escape(str(error))
        raise ExternalError(
            f"cannot make {name()}: {reason}; nothing was changed. Reinstall fabkit"
        ) from error
    except Exception as error:
        reason = escape(str(error)) or type(error).__name__
        raise ExternalError(
            f"the CAD kernel or another library failed on {name()}: {reason}; nothing was changed. "
            "Try another chamfer or label, and please report the set and profile"
        ) from error
