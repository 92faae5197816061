"""Tables of files: every fault at once, each with its place, and what is sound is read."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from fabkit.core.documents import FLAG, Faults, Table, choice, text, whole
from fabkit.core.errors import InputError


class Row(Table):
    name: Annotated[str, text(5)]
    count: Annotated[int, whole(1, 9)] = 1


class File(Table):
    kind: Annotated[str, choice("round", "square")]
    flat: Annotated[bool, FLAG] = False
    head: Row = Field(Row(name="none"), description="a table [head]")
    row: list[Row] = Field([], max_length=3)


def read(data: dict[str, Any], elsewhere: tuple[str, ...] = ()) -> tuple[File, str]:
    faults = Faults("mine.toml")
    file = File.read(data, faults, elsewhere=elsewhere)
    try:
        faults.finish()
    except InputError as error:
        return file, str(error).removeprefix("mine.toml: ")
    return file, ""


def test_what_is_sound_is_read_beside_what_is_not() -> None:
    file, said = read(
        {
            "kind": "rond",
            "flat": 1,
            "row": [{"name": "a", "cuont": 5}, 7, {"name": "c", "count": 99}],
        }
    )
    assert said.splitlines() == [
        "5 faults",
        '  kind: "rond" is not known; did you mean "round"?',
        "  flat: expected true or false, found 1",
        '  row[0].cuont: unknown key; did you mean "count"?',
        "  row[1]: expected a table [[row]], found 7",
        "  row[2].count: is 99; expected 1 to 9",
    ]
    assert (file.failed("kind"), file.failed("row"), file.flat) == (True, True, False)
    assert [row.name for row in file.row] == ["a", None, "c"]
    assert [row.failed("count") for row in file.row] == [True, True, True]
    assert [row.failed("name") for row in file.row] == [False, True, False]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, 'kind: is missing; expected "round" or "square"'),
        ({"kid": "round"}, 'kid: unknown key; did you mean "kind"?'),
        ({"kind": "round", "row": {}}, "row: expected tables [[row]] in double brackets, found a table"),
        ({"kind": "round", "head": []}, "head: expected a table [head], found []"),
        ({"kind": "round", "row": [{"name": "a"}] * 4}, "row: has 4 items; at most 3 are allowed"),
        ({"kind": "round", "a b": 1}, '"a b": unknown key; known are kind, flat, head, row'),
        ({"kind": "round", "size": 1}, 'size: unknown key; did you mean "head.size"?'),
        ({"kind": "round", "row": [{"name": "abcdef"}]}, "row[0].name: is 6 characters long; at most 5 are allowed"),
    ],
)  # fmt: skip
def test_one_mistake_is_one_fault(data: dict[str, Any], said: str) -> None:
    assert read(data, elsewhere=("head.size",))[1] == said
