"""Set files as text, changed without losing comments.

A scan divides valid TOML into blocks, which are headers with their comments and lines. An edit
writes only the lines and tables that differ.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import tomli_w

from fabkit.core.errors import InputError
from fabkit.core.lines import TOKEN, Step, TablePath, statements
from fabkit.core.parsing import parse_toml

_Table = Mapping[str, Any]
#: Parses a text, or remembers what it parses to; raises `InputError` like `parse_toml`.
Parse = Callable[[str], _Table]

#: The longest line that is written, unless an item of a list is longer.
_WIDTH = 100
_INDENT = "  "
#: Keys whose texts have a line each.
_ROWS = ("rows", "back", "labels", "groups")

#: Comments between tables: right below the table before, apart from both, right above the next.
_GAP = re.compile(r"(?:((?:[ \t]*#.*\n)*)([ \t]*\n(?:.*\n)*?))?((?:[ \t]*#.*\n)*)\Z")

_parse = partial(parse_toml, source="")


def edit_text(text: str, document: _Table, parse: Parse = _parse) -> str:
    """Return the text changed so that it parses to a document.

    Comments, order and the notation of all that is unchanged are kept. Tables in a list are
    recognised by their ``id``, or else by their content or position. Comments inside a changed list
    move above its key. A text that cannot be changed in place is written anew: a changed table with
    dotted keys and a header.

    Raises:
        InputError: when the text is not TOML, or the document has values that TOML cannot
            represent.
    """
    before = parse(text)
    if _same(before, document):
        return text
    source = text.replace("\r\n", "\n")
    line_end = "\r\n" if "\r\n" in text else "\n"
    blocks, tail = _scan(source)
    try:
        edited = _edited(blocks, (), before, document) + tail
        edited = edited if source.startswith("\n") else edited.lstrip("\n")
        edited = edited.replace("\n", line_end)
        is_edited = _parses_to(edited, document, parse)
        return edited if is_edited else tomli_w.dumps(document).replace("\n", line_end)
    except (TypeError, RecursionError):
        message = "contains null, which TOML cannot represent, or is nested too deeply"
        raise InputError.of("", message) from None


@dataclass
class _Line:
    """A key with its value, below comments and blank lines."""

    names: tuple[str, ...]
    before: str
    text: str
    tokens: list[re.Match[str]]


@dataclass
class _Block:
    """A header with its lines."""

    path: TablePath = ()
    apart: str = ""  # blank lines before, and comments that belong to no table
    header: str = ""  # with the comments right above
    lines: list[_Line] = field(default_factory=list)
    end: str = ""  # comments right below the last line


def _scan(text: str) -> tuple[list[_Block], str]:
    """Return the blocks of valid TOML, first the keys before all headers, and what follows them."""
    text += "\n\n"  # ends the last line, and the comments right below it
    blocks = [_Block()]
    end = 0
    for statement in statements(text):
        start, tokens = statement.start, statement.tokens
        gap, end = text[end:start], text.index("\n", tokens[-1].end()) + 1
        line = text[start:end]
        if statement.names:
            blocks[-1].lines.append(_Line(statement.names, gap, line, tokens))
        else:
            blocks[-1].end, apart, comments = _GAP.findall(gap)[0]
            blocks.append(_Block(statement.table, apart, comments + line))
    blocks[-1].end, tail, _ = _GAP.findall(text[end:])[0]
    return blocks, tail[:-2]


def _same(a: Any, b: Any) -> bool:
    """Return whether two values are equal; a number is neither true nor false."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _parses_to(text: str, document: _Table, parse: Parse = _parse) -> bool:
    try:
        return _same(parse(text), document)
    except InputError:
        return False


def _tables(table: _Table) -> dict[Step, _Table]:
    """Return the tables in a table, and those in its lists of tables."""
    tables: dict[Step, _Table] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            tables[name, None] = value
        elif isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
            tables |= {(name, index): item for index, item in enumerate(value)}
    return tables


def _origins(old: Mapping[Step, _Table], new: Mapping[Step, _Table]) -> dict[Step, Step | None]:
    """Return the old table of each new one: of equal id, equal, or else at the same step."""
    unused: dict[object, list[Step | None]] = defaultdict(list)
    for step, table in old.items():
        unused[_identity(step, table)].append(step)
    origins = {step: (unused[_identity(step, new[step])] or [None]).pop(0) for step in new}
    free = {step for steps in unused.values() for step in steps}
    return {step: origins[step] or (step if step in free else None) for step in new}


def _identity(step: Step, table: _Table) -> object:
    return step[0], step[1] is None, json.dumps(table.get("id", table), default=str)


def _edited(blocks: list[_Block], path: TablePath, old: _Table, new: _Table) -> str:
    """Return the text of a table and all below it, with the differences between two documents."""
    own = blocks[0] if blocks[0].path == path else _Block(path)
    slots: dict[Step, list[_Block]] = {}
    for block in blocks:
        if block is not own:
            slots.setdefault(block.path[len(path)], []).append(block)
    names = {name for name, _ in slots}
    if path == ():  # where a table has a header, unless it has a line
        names |= new.keys() - {line.names[0] for line in own.lines if old[line.names[0]]}
    old_tables = {step: table for step, table in _tables(old).items() if step in slots}
    tables = {step: table for step, table in _tables(new).items() if step[0] in names}
    origins = _origins(old_tables, tables)
    texts: dict[Step, list[str]] = {step: [] for step in slots}
    for name in new:
        steps = [step for step in tables if step[0] == name]
        kept = {origins[step] for step in steps}
        # Tables in another order take the places of each other; new ones follow those before them.
        places = [place for place in slots if place in kept]
        place = next((place for place in [*places, *slots] if place[0] == name), (name, None))
        for step in steps:
            if origin := origins[step]:
                place = places.pop(0)
                text = _edited(slots[origin], (*path, origin), old_tables[origin], tables[step])
            else:
                text = _new_table((*path, step), tables[step])
            texts.setdefault(place, []).append(text)
    values = {name: new[name] for name in new if name not in {name for name, _ in tables}}
    text = own.header + _edited_lines(own.lines, values) + own.end
    if path and not own.header and (text or not any(texts.values())):
        text = f"\n{_new_table(path, {})}{text}"
    for step, parts in texts.items():
        first = slots[step][0] if step in slots else _Block((*path, step), apart="\n")
        apart = first.apart if first.path == (*path, step) else ""
        if parts:
            text += apart + "\n".join(parts)
        elif apart.strip():
            text += apart.rstrip() + "\n"
    return text


def _edited_lines(lines: list[_Line], values: _Table) -> str:
    """Return lines with other values; comments above a key that is removed stay."""
    old = {line.names: line for line in lines}
    texts = {names: line.before if line.before.strip() else "" for names, line in old.items()}
    parents = {names[:depth] for names in old for depth in range(1, len(names))}
    pending: list[tuple[tuple[str, ...], Any]] = [((name,), values[name]) for name in values]
    while pending:
        names, value = pending.pop(0)
        if names in old:
            texts[names] = old[names].before + _edited_line(old[names], value)
        elif names in parents and isinstance(value, Mapping) and value:
            pending += [((*names, name), item) for name, item in value.items()]
        else:
            texts[names] = _statement(names, value)
    return "".join(texts.values())


def _edited_line(line: _Line, value: Any) -> str:
    indent = line.text[: len(line.text) - len(line.text.lstrip())]
    text = _statement(line.names, value, indent)
    if _parses_to(line.text, tomllib.loads(text)):
        return line.text
    comments = [token for token in TOKEN.findall(line.text) if token[0] == "#"]
    if comments and line.text.endswith(f"{comments[-1]}\n"):
        text = f"{text[:-1]}  {comments.pop()}\n"
    return "".join(f"{indent}{comment}\n" for comment in comments) + text


def _new_table(path: TablePath, table: _Table) -> str:
    name = ".".join(_key(name) for name, _ in path)
    header = f"[{name}]\n" if path[-1][1] is None else f"[[{name}]]\n"
    return header + "".join(_statement([name], value) for name, value in table.items())


def _statement(names: Sequence[str], value: Any, indent: str = "") -> str:
    """Return a key with its value as lines; a table that is too long for a line has dotted keys."""
    start = f"{indent}{'.'.join(map(_key, names))} = "
    if isinstance(value, Mapping) and value and len(start + _in_line(value)) > _WIDTH:
        return "".join(_statement([*names, name], value[name], indent) for name in value)
    return _written(start, value, indent, names[-1] in _ROWS) + "\n"


def _key(name: str) -> str:
    return tomli_w.dumps({name: 0}).removesuffix(" = 0\n")


def _written(text: str, value: Any, indent: str, is_one_a_line: bool = False) -> str:
    """Return a text with a value after it; a list that is too long for a line is wrapped."""
    in_line = text + _in_line(value)
    fits = len(in_line) - in_line.rfind("\n") <= _WIDTH
    is_one_a_line &= isinstance(value, list) and len(value) > 1
    if not isinstance(value, list) or not value or (fits and not is_one_a_line):
        return in_line
    inner = indent + _INDENT
    text += "["
    for item in value:
        joined = f"{text} {_in_line(item)},"
        if is_one_a_line or text[-1] == "[" or len(joined) - joined.rfind("\n") > _WIDTH:
            joined = _written(f"{text}\n{inner}", item, inner) + ","
        text = joined
    return f"{text}\n{indent}]"


def _in_line(value: Any) -> str:
    if isinstance(value, Mapping):
        items = ", ".join(f"{_key(name)} = {_in_line(item)}" for name, item in value.items())
        return f"{{ {items} }}" if items else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_in_line, value))}]"
    return tomli_w.dumps({"k": value}).removeprefix("k = ").removesuffix("\n")
