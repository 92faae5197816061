"""Documents: every error at once, each with its place, and tables without an error are read."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field, StrictBool, StrictInt

from fabkit.core.documents import Table, Text, choice, read_document
from fabkit.core.errors import ErrorList, InputError


class Part(Table):
    name: Text


class Row(Table):
    name: Text = Field(max_length=5)
    part: list[Part] = Field([])
    count: StrictInt = Field(1, ge=1, le=9)


class File(Table):
    kind: Annotated[str, choice("round", "square")]
    flat: StrictBool = False
    head: Row = Field(Row(name="none"), description="a table [head]")
    row: list[Row] = Field([], max_length=3)


def read(data: dict[str, Any], elsewhere: tuple[str, ...] = ()) -> tuple[File | None, str]:
    errors = ErrorList("mine.toml")
    file = read_document(File, data, errors, elsewhere)
    try:
        errors.raise_if_any()
    except InputError as error:
        return file, str(error).removeprefix("mine.toml: ")
    return file, ""


def test_all_errors_of_a_file_are_reported() -> None:
    rows = [{"name": "a", "cuont": 5}, 7, {"name": "c", "count": 99}]
    file, errors = read({"kind": "rond", "flat": 1, "row": rows})
    assert file is None
    assert errors.splitlines() == [
        "5 errors",
        '  kind: "rond" is not a valid value; did you mean "round"?',
        "  flat: expected true or false, found 1",
        '  row[0].cuont: unknown key; did you mean "count"?',
        "  row[1]: expected a table [[row]], found 7",
        "  row[2].count: is 99; expected 1 to 9",
    ]


def test_a_table_in_a_table_has_its_place() -> None:
    rows = [{"name": "a"}, {"name": "b", "part": [{"name": "c"}]}]
    file, _ = read({"kind": "round", "row": rows})
    assert file
    assert [part.key("name") for part in file.row[1].part] == ["row[1].part[0].name"]


def test_tables_without_an_error_are_read_beside_others() -> None:
    rows = [{"name": "a", "count": 99}, {"name": "b"}, {"naem": "c"}]
    file, errors = read({"kind": "round", "row": rows})
    assert file
    assert [(row.place, row.key("name"), row.name) for row in file.row] == [
        ("row[1]", "row[1].name", "b")
    ]
    assert errors.startswith("2 errors\n")


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({}, 'kind: is missing; expected "round" or "square"'),
        ({"kid": "round"}, 'kid: unknown key; did you mean "kind"?'),
        ({"kind": "round", "row": {}}, "row: expected tables [[row]] in double brackets, found a table"),
        ({"kind": "round", "head": []}, "head: expected a table [head], found []"),
        ({"kind": "round", "row": [{"name": "a"}] * 4}, "row: has 4 items; at most 3 are allowed"),
        ({"kind": "round", "a b": 1}, '"a b": unknown key; known keys are kind, flat, head, row'),
        ({"kind": "round", "size": 1}, 'size: unknown key; did you mean "head.size"?'),
        ({"kind": "round", "row": [{"name": "abcdef"}]}, "row[0].name: is 6 characters long; at most 5 are allowed"),
    ],
)  # fmt: skip
def test_one_mistake_is_one_fault(data: dict[str, Any], error: str) -> None:
    assert read(data, elsewhere=("head.size",))[1] == error
