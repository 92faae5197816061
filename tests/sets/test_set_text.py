"""Texts of set files are edited without loss, and errors have their lines."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import assume, example, given
from hypothesis import strategies as st

from fabkit.core.errors import ErrorDetail, InputError
from fabkit.core.lines import lines_of
from fabkit.sets import set_text
from fabkit.sets.library import shipped_folder, shipped_names
from fabkit.sets.set_file import read_set
from fabkit.sets.set_text import edit_text
from tests.test_bad import MADE, SETS, TABLES, text_of

Document = dict[str, Any]
FILES = [
    *(shipped_folder() / f"{name}.toml" for name in shipped_names()),
    *sorted(SETS.glob("*.toml")),
]
TEXT = """\
#:schema set.schema.json
# What it is.

[set]  # the head
name = "a"
marks = { o = "hole",  x = 'cross' }

# --- pieces ---

# The first.
[[piece]]
id = "A"  # short
rows = ["AA", 'A.']

# The second.
[[piece]]
id = "B"
cells = [
  [0, 0],  # the corner
  # beside it
  [0,1],
  [0, 0x2],
]
# end of B

[[board]]
id = "tray"
size = [2, 3]

[[board.clue]]  # what lies there
cells = [[0, 0]]

# the end
"""

# --- what an edit keeps ---------------------------------------------------------------------------


def edited(change: Callable[[Document], object], text: str = TEXT) -> str:
    document = tomllib.loads(text)
    change(document)
    changed = edit_text(text, document)
    assert tomllib.loads(changed) == document
    return changed


def without(*parts: str) -> str:
    text = TEXT
    for part in parts:
        assert text.count(part) == 1
        text = text.replace(part, "")
    return text


FIRST = '# The first.\n[[piece]]\nid = "A"  # short\nrows = ["AA", \'A.\']\n\n'
SECOND = TEXT[TEXT.index("# The second.") : TEXT.index("[[board]]")]
CELLS = TEXT[TEXT.index("cells") : TEXT.index("# end of B")]
CLUE = "[[board.clue]]  # what lies there\ncells = [[0, 0]]\n\n"
NEW = '[[piece]]\nid = "N"\nrows = [\n  "XX",\n  ".X",\n]\n\n'
PIECE = {"id": "N", "rows": ["XX", ".X"]}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda d: d["piece"].pop(0), without(FIRST)),
        (lambda d: d["piece"].pop(1), without(SECOND)),
        (lambda d: d.pop("piece"), without(FIRST, SECOND)),
        (lambda d: d["board"][0].pop("clue"), without(CLUE)),
        (lambda d: d["piece"].append(PIECE), TEXT.replace(SECOND, SECOND + NEW)),
        (lambda d: d["piece"].insert(1, PIECE), TEXT.replace(FIRST, FIRST + NEW)),
        (lambda d: d["piece"].insert(0, PIECE), TEXT.replace(FIRST, NEW + FIRST)),
        (
            lambda d: (d["piece"].pop(0), d["piece"][0].update(colour="#012345")),
            without(FIRST).replace("\n# end of B", '\ncolour = "#012345"\n# end of B'),
        ),
        (lambda d: d["piece"].reverse(), TEXT.replace(FIRST + SECOND, SECOND + FIRST)),
        (lambda d: d["set"].pop("marks"), without("marks = { o = \"hole\",  x = 'cross' }\n")),
        (
            lambda d: d["set"]["marks"].update(d="dot"),
            TEXT.replace("\",  x = 'cross'", '", x = "cross", d = "dot"'),
        ),
        (
            lambda d: d["piece"][0].update(id="Z", colour="#012345"),
            TEXT.replace('"A"', '"Z"').replace("'A.']\n", "'A.']\ncolour = \"#012345\"\n"),
        ),
        (
            lambda d: d["piece"][0]["rows"].append("AA"),
            TEXT.replace("[\"AA\", 'A.']", '[\n  "AA",\n  "A.",\n  "AA",\n]'),
        ),
        (
            lambda d: d["piece"][1]["cells"].pop(1),
            TEXT.replace(CELLS, "# the corner\n# beside it\ncells = [[0, 0], [0, 2]]\n"),
        ),
        (lambda d: d["board"][0].update(size=[2, 4]), TEXT.replace("2, 3", "2, 4")),
        (
            lambda d: d["board"][0]["clue"].append({"cells": [[1, 1]]}),
            TEXT.replace(CLUE, f"{CLUE}[[board.clue]]\ncells = [[1, 1]]\n\n"),
        ),
        (
            lambda d: d.update(cut={"rows": ["AB"], "colours": {"A": "#012345"}}),
            TEXT.replace(
                "# the end", '[cut]\nrows = ["AB"]\ncolours = { A = "#012345" }\n\n# the end'
            ),
        ),
    ],
)
def test_an_edit_changes_no_other_line(change: Callable[[Document], object], expected: str) -> None:
    assert edited(change) == expected
    crlf = edited(change, TEXT.replace("\n", "\r\n"))
    assert crlf == expected.replace("\n", "\r\n")


def test_an_equal_document_changes_nothing() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert edit_text(text, json.loads(json.dumps(tomllib.loads(text)))) == text
    assert edit_text("a = 1.0", {"a": 1}) == "a = 1.0"
    assert edit_text("a = 1", {"a": True}) == "a = true\n"


def test_indents_stay() -> None:
    text = '[[a]]\n  id = 1 # x\n  rows = [\n    "A", # y\n  ]\n'
    wider = '[[a]]\n  id = 1 # x\n  # y\n  rows = [\n    "A",\n    "B",\n  ]\n'
    assert edit_text(text, {"a": [{"id": 1, "rows": ["A", "B"]}]}) == wider


def test_quotes_at_the_end_of_long_strings_belong_to_them() -> None:
    for quote in ("'", '"'):
        text = f"a = {quote * 3}b{quote * 4}  # c\n[d]\ne = {quote}f = 1{quote}  # g\n"
        document = tomllib.loads(text)
        assert edit_text(text, {**document, "d": {**document["d"], "h": 1}}) == f"{text}h = 1\n"


def test_a_new_file_has_no_blank_line_first() -> None:
    assert edit_text("", {"set": {}, "piece": [{}]}) == "[set]\n\n[[piece]]\n"


def test_a_removed_key_leaves_one_blank_line() -> None:
    assert edit_text("a = 1\n\nb = 2\n\nc = 3\n", {"a": 1, "c": 3}) == "a = 1\n\nc = 3\n"
    assert edit_text("a = 1\n# of b\nb = 2\nc = 3\n", {"a": 1, "c": 3}) == "a = 1\n# of b\nc = 3\n"


def test_dotted_keys_are_edited_in_place() -> None:
    text = "[a]  # first\nb = 1  # kept\n\n[c]\nd.e = 1\n"
    assert edit_text(text, {"a": {"b": 1}, "c": {"d": {}}}) == text.replace("d.e = 1", "d = {}")
    more = {"a": {"b": 1}, "c": {"d": {"e": 1, "f": 2}}}
    assert edit_text(text, more) == f"{text}d.f = 2\n"


def test_tables_below_others_are_edited_in_place() -> None:
    text = "# of b\n[a.b]\nc = 1\n\n# of d\n[d]\n\n# of e\n[a.e]\nf = 1\n"
    apart = "# of b\n[a.b]\nc = 2\n\n# of e\n[a.e]\nf = 1\n\n# of d\n[d]\n"
    assert edit_text(text, {"a": {"b": {"c": 2}, "e": {"f": 1}}, "d": {}}) == apart
    deep = "[d]\n\n# of b\n[a.b]\nc = 1\n"
    added = {"d": {}, "a": {"b": {"c": 1}, "g": 3}}
    assert edit_text(deep, added) == deep.replace("\n# of b", "\n[a]\ng = 3\n\n# of b")
    assert edit_text(deep, {"d": {}, "a": {}}) == "[d]\n\n[a]\n"


def test_moved_tables_keep_their_comments() -> None:
    text = "# 1\n[[a]]\nid = 1\n\n# 2\n[[a]]\nid = 2\n\n# apart\n\n# 3\n[[a]]\nid = 3\nb = 1 # b\n"
    moved = "# 3\n[[a]]\nid = 3\nb = 2  # b\n\n# apart\n\n# 1\n[[a]]\nid = 1\n\n[[a]]\nid = 4\n"
    assert edit_text(text, {"a": [{"id": 3, "b": 2}, {"id": 1}, {"id": 4}]}) == moved


def test_a_table_with_dotted_keys_and_a_header_loses_its_layout_only() -> None:
    text = "[a]  # first\nb.c = 1\n[a.b.d]\ne = 1\n"
    after = {"a": {"b": {"c": 2, "d": {"e": 1}}}}
    assert tomllib.loads(edit_text(text, after)) == after


def test_tables_after_an_empty_list_have_headers() -> None:
    text = "[set]\nname = 'a'\n\n[[piece]]\nid = 'A'\n"
    empty = edit_text(text, {"set": {"name": "a"}, "piece": []})
    assert empty == "piece = []\n[set]\nname = 'a'\n"
    filled = edit_text(empty, {"set": {"name": "a"}, "piece": [{"id": "A"}]})
    assert filled == text.replace("id = 'A'", 'id = "A"')


def test_only_line_breaks_end_a_comment() -> None:
    text = "[a]\nb = 1\n# one\u2028\u2028line\n[c]\nd = 1\n"
    assert edit_text(text, {"a": {"b": 1}, "c": {"d": 1}, "e": {}}) == f"{text}\n[e]\n"
    assert edit_text(text, {"a": {"b": 1}}) == "[a]\nb = 1\n"


def test_a_failed_edit_writes_the_document_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_text, "_edited", lambda *_: "a = ")
    document = {"a": [1], "b": {"c": "d"}}
    assert tomllib.loads(edit_text("a = 1\n", document)) == document


@pytest.mark.parametrize("count", range(1, 108))
def test_long_lists_are_wrapped(count: int) -> None:
    places = [[row, column, part] for row in range(3) for column in range(9) for part in range(4)]
    cells = places[:count]
    old = "cut = { cells = { A = [[0, 0]] } }\n"
    inline = edited(lambda d: d["cut"]["cells"].update(A=cells), old)
    assert inline.startswith("cut")
    for text in (
        edited(lambda d: d.update(cut={"cells": {"A": cells, "B": [[9, 9]]}})),
        edited(lambda d: d["board"][0].update(cells=cells)),
        inline,
    ):
        longest = max(map(len, text.splitlines()))
        assert longest <= 100
        assert count < 20 or longest > 80


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_deleted_table_takes_only_its_own_lines(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    document = tomllib.loads("\n".join(lines))
    for kind in ("piece", "board", "family", "challenge"):
        tables = document.get(kind, []) if f"[[{kind}]]" in lines else []
        for index in {0, len(tables) // 2, len(tables) - 1} if len(tables) > 1 else ():
            rest = {**document, kind: tables[:index] + tables[index + 1 :]}
            changed = edit_text("\n".join(lines), rest).splitlines()
            assert tomllib.loads("\n".join(changed)) == rest
            size = len(lines) - len(changed)
            pairs = zip(lines, changed, strict=False)
            start = next((i for i, (a, b) in enumerate(pairs) if a != b), len(changed))
            assert changed == lines[:start] + lines[start + size :]
            gone = [line for line in lines[start : start + size] if line.startswith("[")]
            assert gone.count(f"[[{kind}]]") == 1
            assert all(line.startswith((f"[[{kind}", f"[{kind}.")) for line in gone)


# --- any document ---------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "id", "rows", "piece", "a b", "", 'q"', "é", "x.y"])
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["A", "B", "#", "'''", '"""', "\\", "\x7f", "\r\n"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
TABLES_IN_LISTS = st.lists(
    st.dictionaries(KEYS, VALUES, min_size=1, max_size=3), min_size=1, max_size=4
)
DOCUMENTS = st.dictionaries(KEYS, VALUES | TABLES_IN_LISTS, max_size=5)
COMMENTS = st.sampled_from(["", "", "# comment\n", "\n", "\n# apart\n\n", "\n# [x]\n"])


def inline(value: Any, style: Callable[[int], int]) -> str:
    """A value with random blanks, comments and quotes."""
    if isinstance(value, dict):
        items = [f"{quoted(key)} = {inline(item, style)}" for key, item in value.items()]
        return f"{{{' ' * style(2)}{', '.join(items)} }}" if items else "{}"
    if isinstance(value, list):
        gap = ["", " ", "\n  ", " # in a list\n\t"][style(3)]
        return f"[{gap}{''.join(f'{inline(item, style)},{gap}' for item in value)}]"
    literal = isinstance(value, str) and value.isprintable() and "'" not in value and style(2)
    return f"'{value}'" if literal else tomli_w.dumps({"k": value})[4:-1]


def quoted(key: str) -> str:
    return tomli_w.dumps({key: 0})[:-5]


def written(
    table: Document, path: list[str], style: Callable[[int], int], comment: Callable[[], str]
) -> str:
    """A table's lines, then its headers, in a random notation."""
    lines, headers = "", ""
    for key, value in table.items():
        below = [*path, key]
        name = ".".join(map(quoted, below))
        is_tables = isinstance(value, list) and value and all(isinstance(v, dict) for v in value)
        way = style(3)
        if isinstance(value, dict) and way == 0:
            headers += f"{comment()}[{name}]{' # head' * style(1)}\n"
            headers += written(value, below, style, comment)
        elif is_tables and way:
            for item in value:
                headers += f"{comment()}[[{name}]]\n{written(item, below, style, comment)}"
        elif isinstance(value, dict) and value and way == 1:
            for inner, item in value.items():
                lines += f"{quoted(key)} . {quoted(inner)}={inline(item, style)}\n"
        else:
            comments = comment()
            lines += f"{comments}{' ' * style(1)}{quoted(key)} ={inline(value, style)}"
            lines += f"{' # beside' * style(1)}\n"
    return lines + headers


def altered(draw: st.DrawFn, value: Any) -> Any:
    """A value with a few changes somewhere inside."""
    way = draw(st.integers(0, 5))
    if way == 0:
        return draw(VALUES)
    if isinstance(value, dict) and value:
        key = draw(st.sampled_from(sorted(value)))
        if way == 1:
            return {name: item for name, item in value.items() if name != key}
        if way == 2:
            return {**value, draw(KEYS): draw(VALUES | TABLES_IN_LISTS)}
        return {**value, key: altered(draw, value[key])}
    if isinstance(value, list) and value:
        index = draw(st.integers(0, len(value) - 1))
        item = value[index]
        if way == 1:
            return value[:index] + value[index + 1 :]
        if way == 2:
            return [*value[:index], draw(VALUES), *value[index:]]
        if way == 3:
            return draw(st.permutations(value))
        return [*value[:index], altered(draw, item), *value[index + 1 :]]
    return value


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, Document]:
    before = draw(DOCUMENTS)
    text = written(
        before, [], lambda top: draw(st.integers(0, top)), lambda: draw(COMMENTS)
    ) + draw(COMMENTS)
    after = draw(DOCUMENTS) if draw(st.integers(0, 9)) == 0 else before
    for _ in range(draw(st.integers(1, 3))):
        changed = altered(draw, after)
        after = changed if isinstance(changed, dict) else after
    return text, copy.deepcopy(after)


@given(edits())
@example(("a.b = 1\n", {"a": {}}))
@example(("a = { b.c = 1, d = 2 }\n", {"a": {"b": {"c": 1}, "d": 3}}))
@example(("[a.b]\nc = 1\n", {"a": {"b": {"c": 1}, "d": 2}}))
@example(("[a]\nb = 1\n[[c]]\n[a.d]\n", {"a": {"b": 1, "e": {}}, "c": [{}]}))
def test_the_text_parses_to_the_document(edit: tuple[str, Document]) -> None:
    text, document = edit
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # a table of dotted keys that has a header, too
        return
    changed = edit_text(text, document)
    assert tomllib.loads(changed) == document
    assert edit_text(changed, document) == changed


def holds_tables(value: object) -> bool:
    """Whether a value may have headers of its own."""
    return isinstance(value, dict) or (isinstance(value, list) and dict in map(type, value))


@given(st.data())
def test_sets_are_edited_in_place(data: st.DataObject) -> None:
    """Comments are lost only with what they belong to: a change of values loses none."""
    text = data.draw(st.sampled_from(FILES)).read_text(encoding="utf-8")
    document = tomllib.loads(text)
    kind = data.draw(st.sampled_from(sorted(document)))
    tables = document[kind] if isinstance(document[kind], list) else [document[kind]]
    table = data.draw(st.sampled_from(tables))
    keys = [key for key, value in table.items() if not holds_tables(value)]
    assume(keys)
    key = data.draw(st.sampled_from(sorted(keys)))
    table[key] = data.draw(SCALARS)
    changed = edit_text(text, document)
    assert tomllib.loads(changed) == document
    kept = [line for line in text.splitlines() if line.startswith(("#", "["))]
    assert [line for line in changed.splitlines() if line.startswith(("#", "["))] == kept


def test_what_is_not_toml_is_refused() -> None:
    with pytest.raises(InputError, match="is not TOML"):
        edit_text("a = \n", {"a": 1})
    with pytest.raises(InputError, match="null"):
        edit_text("a = 1\n", {"a": None})


# --- lines ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("set", "[set]"),
        ("set.lattice", "[set]"),
        ("set.name", "name ="),
        ("set.marks.x: other", "marks ="),
        ("piece", "[[piece]]"),
        ("piece[0].rows[1]", "rows ="),
        ("piece[1]", "[[piece]]"),
        ("piece[1].cells[1]", "  [0,1],"),
        ("piece[1].cells[2]: is wrong", "  [0, 0x2]"),
        ("piece[1].cells[9]", "cells = ["),
        ('piece "B".id', 'id = "B"'),
        ("piece B: has no letter", "[[piece]]"),
        ("set: name is missing", "[set]"),
        ('piece "Q".id', "[[piece]]"),
        ("board[0].clue[0].cells", "cells = [[0, 0]]"),
        ('board[0]."clue"[0]', "[[board.clue]]"),
        ('"a\\x1b"', ""),
        ("there are no pieces", ""),
    ],
)
def test_a_place_has_its_line(key: str, line: str) -> None:
    [number] = lines_of(TEXT, [key])
    assert [*TEXT.splitlines(), ""][number - 1].startswith(line)
    assert lines_of(TEXT.replace("\n", "\r\n"), [key]) == [number]


def test_text_that_is_not_toml_has_the_line_of_its_fault() -> None:
    for text, line in [
        ("a = 1\nb = \n", 2),
        ("a = 1\n\nb = [1,\n", 3),
        ("a = 1\n\nb = [1,", 3),
        ("a = '\ud800'", 0),
        ("", 0),
    ]:
        with pytest.raises(InputError) as caught:
            read_set(Path("x.toml"), text=text)
        assert caught.value.errors[0].line == line


@pytest.mark.integration
def test_bad_sets_have_lines_that_hold_the_key(tmp_path: Path) -> None:
    """Nearly all: a missing key has the line of its table, a shortened one that of its table."""
    cases = [text_of("set", name) for name in TABLES["set"]]
    cases += [text for make in MADE.values() if isinstance(text := make(), str)]
    misplaced = []
    count = 0
    for text in cases:
        lines = text.splitlines() or [""]
        for detail in errors_of(text, tmp_path / "mine.toml"):
            assert 0 <= detail.line <= len(lines)
            if names := re.findall(r"[\w-]+", re.sub(r"\[\d+\]|: .*", "", detail.key)):
                count += 1
                misplaced += [detail] * (names[-1] not in lines[detail.line - 1])
    assert count > 500
    assert len(misplaced) < 0.05 * count


def errors_of(text: str, path: Path) -> Sequence[ErrorDetail]:
    """The errors of a set's text; none where only making it fails."""
    try:
        read_set(path, text=text)
    except InputError as error:
        return error.errors
    return ()
