"""The statements of TOML as text, and the lines of errors in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from fabkit.core.errors import InputError
from fabkit.core.parsing import parse_toml

#: A name, and the index of its table in a list; None for a table that is in no list.
Step = tuple[str, int | None]
TablePath = tuple[Step, ...]
Document = Mapping[str, Any]

#: A token of valid TOML: a string, a comment, a sign, or what stands between them.
TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|"(?:[^"\\]|\\.)*"'
    r"|'''.*?'{3,5}|'[^']*'"
    r"|#[^\n]*|[\[\]{},=\n]|[^\s\[\]{},=#\"']+",
    re.DOTALL,
)
#: A step of the path in an error: an index, or a key or the id of a table.
_STEP = re.compile(r'\[(\d+)\]|[. ]?(?:"((?:[^"\\]|\\.)*)"|([\w-]+))')
#: How a parser's error ends.
_POSITION = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class Statement:
    """A header of a table, or a key with its value, in valid TOML.

    Attributes:
        table: the path of the table.
        names: the parts of the key; empty for a header.
        start: where its line begins.
        tokens: without comments.
    """

    table: TablePath
    names: tuple[str, ...]
    start: int
    tokens: list[re.Match[str]]


def statements(text: str) -> Iterator[Statement]:
    """Yield the statements of valid TOML that ends with a line break."""
    last: dict[tuple[TablePath, str], int] = {}  # indices in lists
    table: TablePath = ()
    for tokens in _tokens(text):
        start = text.rfind("\n", 0, tokens[0].start()) + 1
        if tokens[0][0] == "[":
            *parents, name = _names(tomllib.loads(text[start : tokens[-1].end()]))
            table = ()
            for parent in parents:
                table += ((parent, last.get((table, parent))),)
            if text.startswith("[[", tokens[0].start()):
                last[table, name] = last.get((table, name), -1) + 1
            table += ((name, last.get((table, name))),)
            yield Statement(table, (), start, tokens)
        else:
            equals = next(token.start() for token in tokens if token[0] == "=")
            names = _names(tomllib.loads(f"{text[start:equals]} = {{}}"))
            yield Statement(table, names, start, tokens)


def _tokens(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield the tokens of each statement, without comments."""
    tokens: list[re.Match[str]] = []
    depth = 0
    for token in TOKEN.finditer(text):
        if not token[0].startswith(("#", "\n")):
            tokens.append(token)
            depth += (token[0] in "[{") - (token[0] in "]}")
        elif token[0] == "\n" and depth == 0 and tokens:
            yield tokens
            tokens = []


def _names(table: Any) -> tuple[str, ...]:
    """Return the names of nested tables, of which each has a single key."""
    if isinstance(table, dict) and table:
        [(name, below)] = table.items()
        return (name, *_names(below))
    return ()


@contextmanager
def located(text: str, source: str, document: Document | None = None) -> Iterator[None]:
    """Add to errors in a source their lines in its text; see `lines_of`."""
    try:
        yield
    except InputError as error:
        if error.source != source:
            raise
        lines = lines_of(text, [str(detail) for detail in error.errors], document)
        pairs = zip(error.errors, lines, strict=True)
        details = [replace(detail, line=line) for detail, line in pairs]
        raise InputError(source, details, error.omitted) from None


def lines_of(text: str, errors: Sequence[str], document: Document | None = None) -> list[int]:
    """Return the lines of errors: where the parser stopped, or of the innermost key they name.

    An error that names none, or is not in TOML, has line 0. The document is what the text parses
    to, if it has been parsed.
    """
    if len(errors) == 1 and (position := _POSITION.search(errors[0])):
        return [int(position[1] or text.rstrip().count("\n") + 1)]
    if document is None:
        try:
            document = parse_toml(text, "")
        except InputError:
            return [0] * len(errors)
    starts: dict[tuple[str | int, ...], int] = {}
    for path, start in _paths(text + "\n"):
        for depth in range(1, len(path) + 1):
            starts.setdefault(path[:depth], start)
    return [_line(text, starts, document, error.partition(": ")[0]) for error in errors]


def _line(text: str, starts: dict[tuple[str | int, ...], int], value: Any, key: str) -> int:
    path: tuple[str | int, ...] = ()
    for match in _STEP.finditer(key):
        step: str | int = int(match[1]) if match[1] else match[2] or match[3]
        if isinstance(value, list) and isinstance(step, str):
            ids = [item.get("id") if isinstance(item, dict) else None for item in value]
            step = ids.index(step) if step in ids else step
        if (*path, step) not in starts:
            break
        path += (step,)
        value = value[step]
    return text.count("\n", 0, starts[path]) + 1 if path else 0


def _paths(text: str) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Yield the path of each header, key and item of a list in valid TOML, and where it begins."""
    for statement in statements(text):
        table = (step for pair in statement.table for step in pair if step is not None)
        path = (*table, *statement.names)
        yield path, statement.tokens[0].start()
        depth = index = 0
        for token, following in pairwise(statement.tokens if statement.names else ()):
            depth += (token[0] in "[{") - (token[0] in "]}")
            if depth == 1 and token[0] in "[,":
                yield (*path, index), following.start()
                index += 1
