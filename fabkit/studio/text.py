"""Set files as text: changed without losing comments, and with the lines of errors.

A scan divides valid TOML into blocks, which are tables with their comments, and their lines, which are
keys with their values. An edit replaces only what differs. In tomlkit, which has no lines for errors, a
comment above a header is part of the table before: without the first piece, the second has its comment.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tomli_w

from fabkit.core.errors import InputError
from fabkit.core.parsing import parse_toml

#: Keys and indices from the whole file to a value.
_Path = tuple[str | int, ...]

#: The longest line that is written.
_WIDTH = 100
#: Space for what follows a value on its line: a comma, or the end of an inline table.
_ENDING = 2
_INDENT = "    "
#: Keys whose texts are a drawing, which is read row by row.
_DRAWINGS = ("rows", "back", "labels")

_BLANKS = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_COMMENT = re.compile(r"[ \t]*#[^\n]*")
_KEY = re.compile(r"""(?:[ \t]*(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*\.?)+""", re.ASCII)
_LINES = re.compile(r".*\n|.+")
_SCALAR = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'"
    r"|[^,\]}#\n]*[^,\]}#\n \t]",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
#: A step of the place in an error: a key, an index, or the id of a table.
_STEP = re.compile(r'\[(?P<index>\d+)\]|[. ]?(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<name>[\w-]+))')
_LINE_OF_FAULT = re.compile(r"\(at line (\d+), column \d+\)$")


def edit_text(text: str, document: Mapping[str, Any]) -> str:
    """Return the text changed so that it parses to a document.

    Comments, order and the notation of all that is unchanged are kept. Tables in a list are recognised by
    their ``id``, or else by their content or position. A new table follows a blank line. Where a table
    cannot be changed in place, such as one whose dotted keys are all removed, it is written anew.

    Raises:
        InputError: when the text is not TOML, or the document has values that TOML has not.
    """
    before = parse_toml(text, "")
    if _same(before, document):
        return text
    source = text.replace("\r\n", "\n")
    source += "\n" * (not source.endswith("\n") and source != "")
    try:
        edited = _edited(source, before, document)
        if not _parses_to(edited, document):
            after = {
                key: document[key] for key in document if _same(before.get(key), document[key])
            }
            kept = _edited(source, before, after)
            edited = _edited(kept, after, document) if _parses_to(kept, after) else ""
        if not _parses_to(edited, document):
            edited = tomli_w.dumps(document)
    except (TypeError, RecursionError):
        raise InputError.of(
            "", "the document contains null, which TOML has not, or is nested too deeply"
        ) from None
    return edited.replace("\n", "\r\n") if "\r\n" in text else edited


def line_of(text: str, key: str) -> int:
    """Return the line of the place in a reader's error, or the nearest that encloses it.

    Args:
        key: `ErrorDetail.key`, or the whole error. If the text is not TOML, it is not needed.
    """
    try:
        document: Any = parse_toml(text, "")
    except InputError as error:
        message = error.errors[0].message
        if message.endswith("(at end of document)"):
            return text.count("\n") + (not text.endswith("\n")) or 1
        match = _LINE_OF_FAULT.search(message)
        return int(match[1]) if match else 1
    source = text.replace("\r\n", "\n")
    starts = _starts(source)
    path: _Path = ()
    position = 0
    while match := _STEP.match(key, position):
        step: str | int = match["name"] or 0
        if match["index"] or match["quoted"]:
            try:
                step = json.loads(match["index"] or match["quoted"])
            except ValueError:  # shortened, or escaped in another way
                break
        if isinstance(document, list) and isinstance(step, str):
            ids = [item.get("id") if isinstance(item, dict) else None for item in document]
            step = ids.index(step) if step in ids else step
        if (*path, step) not in starts:
            break
        path += (step,)
        document = document[step]
        position = match.end()
    return source.count("\n", 0, starts[path]) + 1


# --- reading --------------------------------------------------------------------------------------


@dataclass
class _Value:
    """The place of a value, and of the items of a list or inline table with the names of their keys."""

    start: int
    end: int
    items: list[tuple[tuple[str, ...], _Value]] = field(default_factory=list)


@dataclass
class _Line:
    """A key with its value, in the text ``before + key + value + after``.

    Attributes:
        path: of the value in the file.
        before: comments and blank lines above.
        after: a comment, and the line break.
    """

    path: _Path
    start: int
    place: _Value
    before: str
    key: str
    value: str
    after: str


@dataclass
class _Block:
    """A header with its lines.

    Attributes:
        apart: blank lines before, and comments that belong to no table.
        header: the comments right above, and the header's line.
        end: comments after the last line, without a blank line between.
    """

    path: _Path
    start: int
    apart: str = ""
    header: str = ""
    lines: list[_Line] = field(default_factory=list)
    end: str = ""
    is_removed: bool = False

    @property
    def text(self) -> str:
        """The text of a block, or what remains without it."""
        if self.is_removed:
            comments = self.apart.rstrip("\n")
            return f"{comments}\n" if comments else ""
        lines = (f"{line.before}{line.key}{line.value}{line.after}" for line in self.lines)
        return "".join([self.apart, self.header, *lines, self.end])


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    assert match, text[start : start + 40]  # the text is valid TOML
    return match.end()


def _scan_key(text: str, start: int) -> tuple[tuple[str, ...], int]:
    """Return the names of a dotted key, and where it ends."""
    end = _end(_KEY, text, start)
    table = tomllib.loads(f"{text[start:end]} = 0")
    names = []
    while isinstance(table, dict):
        [(name, table)] = table.items()
        names.append(name)
    return tuple(names), end


def _scan_value(text: str, start: int) -> _Value:
    closing = {"[": "]", "{": "}"}.get(text[start])
    if closing is None:
        return _Value(start, _end(_SCALAR, text, start))
    value = _Value(start, start)
    position = _end(_GAP, text, start + 1)
    while text[position] != closing:
        names: tuple[str, ...] = ()
        if closing == "}":
            names, position = _scan_key(text, position)
            position = _end(_BLANKS, text, position + 1)
        item = _scan_value(text, position)
        value.items.append((names, item))
        position = _end(_GAP, text, item.end)
        if text[position] == ",":
            position = _end(_GAP, text, position + 1)
    value.end = position + 1
    return value


def _scan(text: str) -> list[_Block]:
    """Return the blocks of valid TOML: first the keys before all headers, last what follows all lines."""
    blocks = [_Block((), 0)]
    sizes: dict[_Path, int] = {}
    position = 0
    while True:
        sign = _end(_GAP, text, position)
        if sign == len(text):
            blocks[-1].end, apart, _ = _split(text[position:], before_header=False)
            return [*blocks, _Block((), sign, apart)]
        start = max(text.rfind("\n", position, sign) + 1, position)  # before the indent
        gap = text[position:start]
        if text[sign] == "[":
            blocks[-1].end, apart, comments = _split(gap, before_header=True)
            is_list = text.startswith("[[", sign)
            names, end = _scan_key(text, sign + 1 + is_list)
            path = _resolve(names, sizes, is_list)
            position = _line_end(text, end)
            blocks.append(_Block(path, sign, apart, comments + text[start:position]))
        else:
            names, end = _scan_key(text, sign)
            place = _scan_value(text, _end(_BLANKS, text, end + 1))
            position = _line_end(text, place.end)
            block = blocks[-1]
            key, value = text[start : place.start], text[place.start : place.end]
            after = text[place.end : position]
            block.lines.append(_Line((*block.path, *names), sign, place, gap, key, value, after))


def _line_end(text: str, position: int) -> int:
    return text.find("\n", position) + 1 or len(text)


def _split(gap: str, before_header: bool) -> tuple[str, str, str]:
    """Divide comments and blank lines between tables: of the table before, of none, of the next."""
    lines = _LINES.findall(gap)
    blank = [index for index, line in enumerate(lines) if not line.strip(" \t\n")]
    first, last = (blank[0], blank[-1] + 1) if blank else (0, 0)
    if not before_header:
        first = blank[0] if blank else len(lines)
        last = len(lines)
    return "".join(lines[:first]), "".join(lines[first:last]), "".join(lines[last:])


def _resolve(names: Sequence[str], sizes: dict[_Path, int], is_list: bool) -> _Path:
    """Return the path of a header, in which lists of tables have the index of their last one."""
    path: _Path = ()
    for depth, name in enumerate(names, start=1):
        path += (name,)
        if is_list and depth == len(names):
            sizes[path] = sizes.get(path, 0) + 1
        if path in sizes:
            path += (sizes[path] - 1,)
    return path


def _starts(text: str) -> dict[_Path, int]:
    """Return where each key and item begins in valid TOML."""
    starts: dict[_Path, int] = {(): 0}

    def add(path: _Path, start: int) -> None:
        for depth in range(1, len(path) + 1):
            starts.setdefault(path[:depth], start)

    def add_items(path: _Path, value: _Value) -> None:
        for index, (names, item) in enumerate(value.items):
            below = (*path, *(names or (index,)))
            add(below, item.start)
            add_items(below, item)

    for block in _scan(text):
        add(block.path, block.start)
        for line in block.lines:
            add(line.path, line.start)
            add_items(line.path, line.place)
    return starts


# --- comparing ------------------------------------------------------------------------------------


def _same(a: Any, b: Any) -> bool:
    """Return whether two values are equal; a number is neither true nor false."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)


def _parses_to(text: str, document: Mapping[str, Any]) -> bool:
    try:
        return _same(tomllib.loads(text), document)
    except tomllib.TOMLDecodeError:
        return False


def _is_tables(value: Any) -> bool:
    """Return whether a value is a list of tables, and not empty."""
    return isinstance(value, list) and value != [] and all(isinstance(item, dict) for item in value)


def _origins(old: Sequence[Any], new: Sequence[Any]) -> list[int | None]:
    """Return which old item each new one comes from: of equal id, equal, or else at the same index."""
    old_keys, new_keys = ([_identity(item) for item in items] for items in (old, new))
    unused: dict[str, list[int]] = {}
    for index, key in enumerate(old_keys):
        unused.setdefault(key, []).append(index)
    origins: list[int | None] = [None] * len(new)
    for index, pair in enumerate(zip(old_keys, new_keys, strict=False)):
        if pair[0] == pair[1]:
            origins[index] = index
            unused[pair[0]].remove(index)
    for index, key in enumerate(new_keys):
        if origins[index] is None and unused.get(key):
            origins[index] = unused[key].pop(0)
    free = {index for indices in unused.values() for index in indices}
    return [
        index if origin is None and index in free else origin
        for index, origin in enumerate(origins)
    ]


def _identity(item: Any) -> str:
    has_id = isinstance(item, dict) and "id" in item
    return json.dumps({"id": item["id"]} if has_id else item, sort_keys=True, default=str)


# --- writing --------------------------------------------------------------------------------------


def _edited(text: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return the text with the differences between two documents; it may fail, see `edit_text`."""
    editor = _Editor(text)
    editor.edit_table((), old, new)
    edited = "".join(block.text for block in editor.blocks)
    return edited if text.startswith("\n") else edited.lstrip("\n")


class _Editor:
    """Changes the blocks of a text; paths are those of the old document."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks = _scan(text)
        self.lines = {line.path: line for block in self.blocks for line in block.lines}

    def edit_table(self, path: _Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Change what differs in a table."""
        for key in old:
            if key not in new:
                self.remove((*path, key))
        for key, value in new.items():
            below = (*path, key)
            if key not in old:
                self.add(path, key, value)
            elif _same(old[key], value):
                continue
            elif old[key] == [] and _is_tables(value) and path == ():
                self.remove(below)
                self.add(path, key, value)
            elif line := self.lines.get(below):
                indent = line.key[: len(line.key) - len(line.key.lstrip())]
                item = _Item(value, self.text, line.place, old[key])
                line.value = item.written(key, len(line.key), indent)
            elif isinstance(old[key], dict) and isinstance(value, dict):
                self.edit_table(below, old[key], value)
            elif _is_tables(old[key]) and _is_tables(value):
                self.edit_tables(below, old[key], value)
            else:
                self.remove(below)
                self.add(path, key, value)

    def edit_tables(
        self, path: _Path, old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
    ) -> None:
        """Change what differs in a list of tables with headers."""
        origins = _origins(old, new)
        kept = [origin for origin in origins if origin is not None]
        for index in set(range(len(old))) - {*kept}:
            self.remove((*path, index))
        for origin, table in zip(origins, new, strict=True):
            if origin is not None:
                self.edit_table((*path, origin), old[origin], table)
        if kept != sorted(kept):
            self._reorder(path, kept)
        previous: _Path | None = None
        for index, (origin, table) in enumerate(zip(origins, new, strict=True)):
            below = (*path, len(old) + index if origin is None else origin)
            if origin is None:
                block = _new_block(below, table)
                if previous is not None:
                    self._insert_after(previous, block)
                else:
                    first = self._within(path)[0]
                    block.apart, first.apart = first.apart, "\n"
                    self.blocks.insert(self.blocks.index(first), block)
            previous = below

    def _reorder(self, path: _Path, kept: Sequence[int]) -> None:
        """Put tables of a list in another order; what stands between them stays."""
        groups = {index: self._within((*path, index)) for index in kept}
        slots = [groups[index] for index in sorted(kept)]
        aparts = [slot[0].apart for slot in slots]
        moved = {id(slot[0]): groups[index] for slot, index in zip(slots, kept, strict=True)}
        followers = {id(block) for slot in slots for block in slot[1:]}
        self.blocks = [
            moved_block
            for block in self.blocks
            if id(block) not in followers
            for moved_block in moved.get(id(block), [block])
        ]
        for index, apart in zip(kept, aparts, strict=True):
            groups[index][0].apart = apart

    def _within(self, path: _Path) -> list[_Block]:
        """Return the blocks of a table and all below it."""
        return [block for block in self.blocks[:-1] if block.path[: len(path)] == path]

    def _insert_after(self, path: _Path, block: _Block) -> None:
        last = self._within(path)[-1]
        self.blocks.insert(self.blocks.index(last) + 1, block)

    def remove(self, path: _Path) -> None:
        """Remove a value with all below it; comments above a single key stay."""
        for block in self._within(path):
            block.is_removed = True
        for block in self.blocks:
            for line in block.lines:
                if line.path[: len(path)] == path:
                    line.before = line.before if line.before.strip() else ""
                    line.key = line.value = line.after = ""

    def add(self, path: _Path, key: str, value: Any) -> None:
        """Add a key to a table: a header in the whole file, or a line."""
        if path == () and (isinstance(value, dict) or _is_tables(value)):
            if isinstance(value, dict):
                self.blocks.insert(-1, _new_block((key,), value))
            for index, table in enumerate(value if isinstance(value, list) else ()):
                self.blocks.insert(-1, _new_block((key, index), table))
            return
        homes = [block for block in self._within(path) if block.path == path]
        if homes:
            lines = homes[0].lines
            position = len(lines)
            names: list[str] = []
        else:  # a table of dotted keys
            dotted = [
                (block, index)
                for block in self.blocks
                for index, line in enumerate(block.lines)
                if line.path[: len(path)] == path
            ]
            if not dotted:
                self._insert_after(path, _new_block(path, {key: value}))
                return
            block, index = dotted[-1]
            lines = block.lines
            position = index + 1
            names = [str(name) for name in path[len(block.path) :]]
        text = _statements([*names, key], value)
        lines.insert(position, _Line((), 0, _Value(0, 0), "", text, "", ""))


def _new_block(path: _Path, table: Mapping[str, Any]) -> _Block:
    name = ".".join(_key(step) for step in path if isinstance(step, str))
    header = f"[[{name}]]\n" if isinstance(path[-1], int) else f"[{name}]\n"
    lines = "".join(_statements([key], value) for key, value in table.items())
    return _Block(path, 0, "\n", header + lines)


def _statements(names: Sequence[str], value: Any) -> str:
    """Return a key with its value as lines; a table that is too long for a line has dotted keys."""
    key = ".".join(map(_key, names))
    text = _notation(value, names[-1], len(key) + 3)
    if isinstance(value, Mapping) and value and ("\n" in text or len(key) + 3 + len(text) > _WIDTH):
        return "".join(_statements([*names, below], item) for below, item in value.items())
    return f"{key} = {text}\n"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _scalar(name)


def _scalar(value: Any) -> str:
    return tomli_w.dumps({"k": value}).removeprefix("k = ").removesuffix("\n")


def _notation(value: Any, key: str, column: int, indent: str = "") -> str:
    """Return a value in TOML, on a line that begins with an indent, from a column on."""
    if isinstance(value, Mapping):
        return _inline_table({name: _Item(item) for name, item in value.items()}, column, indent)
    if isinstance(value, list):
        return _list([*map(_Item, value)], key, column, indent, indent + _INDENT)
    return _scalar(value)


@dataclass
class _Item:
    """A value to write, with what the text has in its place.

    Attributes:
        place: where the text has it; None for a new value.
        old: its value there.
        comments: above it.
        comment: after it on its line.
    """

    value: Any
    text: str = ""
    place: _Value | None = None
    old: Any = None
    comments: Sequence[str] = ()
    comment: str = ""

    def written(self, key: str, column: int, indent: str) -> str:
        """Return the value in TOML, as it was where it is unchanged; see `_notation`."""
        place = self.place
        if place is None:
            return _notation(self.value, key, column, indent)
        if _same(self.old, self.value):
            return self.text[place.start : place.end]
        if isinstance(self.old, list) and isinstance(self.value, list):
            return _changed_list(self, key, column, indent)
        has_dotted_keys = any(len(names) > 1 for names, _ in place.items)
        if isinstance(self.old, dict) and isinstance(self.value, dict) and not has_dotted_keys:
            return _inline_table(_table_items(self), column, indent)
        return _notation(self.value, key, column, indent)


def _table_items(table: _Item) -> dict[str, _Item]:
    """Return the items of a changed inline table: those that it had in their order, then new ones."""
    assert table.place
    value, old = table.value, table.old
    items = {
        name: _Item(value[name], table.text, place, old[name])
        for (name,), place in table.place.items
        if name in value
    }
    return items | {name: _Item(value[name]) for name in value if name not in items}


def _changed_list(changed: _Item, key: str, column: int, indent: str) -> str:
    """Return a changed list in TOML, with its comments and indent; see `_notation`."""
    assert changed.place
    text, places = changed.text, [place for _, place in changed.place.items]
    starts = [changed.place.start + 1, *(place.end for place in places)]
    ends = [*(place.start for place in places), changed.place.end - 1]
    gaps = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    _, line_break, inner = gaps[0].rpartition("\n")
    # A comment on an item's line, after its comma, is of this item, those on other lines of the next.
    gaps[0] = f"\n{gaps[0]}"
    beside = [_COMMENT.findall(gap.partition("\n")[0]) for gap in gaps]
    above = [[*map(str.strip, _COMMENT.findall(gap.partition("\n")[2]))] for gap in gaps]
    items = []
    for value, origin in zip(changed.value, _origins(changed.old, changed.value), strict=True):
        item = _Item(value)
        if origin is not None:
            comment = "".join(beside[origin + 1])
            old = changed.old[origin]
            item = _Item(value, text, places[origin], old, above[origin], comment)
        items.append(item)
    is_one_a_line = any(map(_COMMENT.search, gaps)) or "".join(gaps).count("\n") > len(gaps)
    inner = inner if line_break and places else indent + _INDENT
    return _list(items, key, column, indent, inner, is_one_a_line, above[-1])


def _list(
    items: Sequence[_Item],
    key: str,
    column: int,
    indent: str,
    inner: str,
    is_one_a_line: bool = False,
    closing: Sequence[str] = (),
) -> str:
    """Return a list in TOML; see `_notation`.

    Args:
        inner: the indent of its items, where they are not all in one line.
        is_one_a_line: whether each item has a line of its own.
        closing: comments after the last item.
    """
    is_drawing = key in _DRAWINGS and all(isinstance(item.value, str) for item in items)
    is_one_a_line |= is_drawing and len(items) > 1
    texts = [item.written("", len(inner), inner) for item in items]
    in_line = f"[{', '.join(texts)}]"
    if not is_one_a_line and "\n" not in in_line and column + len(in_line) + _ENDING <= _WIDTH:
        return in_line
    lines: list[str] = []
    for item, text in zip(items, texts, strict=True):
        lines += item.comments
        joined = f"{lines[-1]} {text}," if lines else ""
        if joined and not is_one_a_line and "\n" not in joined and len(inner + joined) <= _WIDTH:
            lines[-1] = joined
        else:
            lines.append(f"{text},{item.comment}")
    return "".join(["[\n", *(f"{inner}{line}\n" for line in [*lines, *closing]), f"{indent}]"])


def _inline_table(items: Mapping[str, _Item], column: int, indent: str) -> str:
    """Return an inline table in TOML; see `_notation`."""
    text = ""
    for name, item in items.items():
        text += f"{', ' if text else '{ '}{_key(name)} = "
        *_, last = f"{' ' * column}{text}".split("\n")
        text += item.written(name, len(last), indent)
    return f"{text} }}" if text else "{}"
