"""Bad input is refused with one exact message, quickly, and leaves nothing behind.

``tests/bad`` holds tables of inputs, one fault each, and the message expected on standard error:

- ``set.toml``: set files, run as ``fabkit export-stl FILE``, with the ``svg`` beside it: one of
  `BASES` (of an ``svg``, the one that names it), where ``change`` replaces one text by another, and
  what the case does ``add``; or a whole ``input``,
- ``profile.toml``: profiles, run as ``fabkit export-stl fridgeiq -p FILE``,
- ``challenge.toml``: challenge files, run as ``fabkit solve SET --file SET-NAME.toml``, where SET
  is shipped, or one of ``tests/sets``,
- ``cli.toml``: command lines,
- ``measured.toml``: lists of values, run as ``fabkit calibrate --from FILE``: whole as ``input``,
  or good ones of some ``kinds``, ``without`` some numbers, ``times`` a factor, with other ``rows``,
- ``config.toml``: print configurations, run as ``fabkit slice fridgeiq --config FILE``,
- ``made.toml``: set files that `MADE` writes, since they are large or not text.

With FABKIT_UPDATE=1 in the environment the messages are written instead of compared: read
every difference before keeping it, since the tables say what users will see.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from fabkit.build.coupon import measurement_csv
from fabkit.cli import main
from fabkit.drawing.coupon import coupon_places
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.library import schema_of, shipped_folder, shipped_names
from fabkit.sets.set_file import read_set
from tests.support.mutations import mutated, surprises

BAD = Path(__file__).resolve().parent / "bad"
SETS = BAD.with_name("sets")
UPDATE = os.environ.get("FABKIT_UPDATE") == "1"

Case = dict[str, Any]


def read_table(kind: str) -> dict[str, Case]:
    return tomllib.loads((BAD / f"{kind}.toml").read_text(encoding="utf-8"))


KINDS = ("set", "profile", "challenge", "cli", "measured", "config", "made")
TABLES: dict[str, dict[str, Case]] = {kind: read_table(kind) for kind in KINDS}

HEAD = '[set]\nname = "mine"\ntitle = "Mine"\nlattice = "square"\nmoves = "rotations"\n'
PIECE = '\n[[piece]]\nid = "A"\n'
DOMINO = f"{PIECE}cells = [[0, 0], [0, 1]]\n"
TROMINO = '\n[[piece]]\nid = "B"\ncells = [[0, 0], [0, 1], [0, 2]]\n'
QUARTER = HEAD.replace('"square"', '"quarter-square"') + PIECE
LABELLED = '\n[[board]]\nid = "tray"\nsize = [2, 3]\nlabels = ["a b c", "d e f"]\nopen = 2\n'
FAMILY = '\n[[family]]\nid = "roll"\ngroups = ["a b c", "d e f"]\n'
#: Beginnings of set files, all without a fault once their last piece or challenge is drawn.
BASES = {
    "square": HEAD + PIECE,
    "quarter": QUARTER,
    "outline": f"{QUARTER}outline = [[0, 0], [2, 0], [2, 1], [0, 1]]\n",
    "svg": f'{HEAD}unit = "20 mm"\n{PIECE}svg = "{{name}}.svg#A"\n',
    "board": f'{HEAD}{DOMINO}\n[[board]]\nid = "tray"\n',
    "domino": f'{HEAD}{DOMINO}\n[[board]]\nid = "tray"\nsize = [2, 3]\n\n[[challenge]]\nid = "one"\n',
    "marked": f'{HEAD}marks = {{ o = "hole", x = "cross" }}\n{PIECE}rows = ["oX"]\n',
    "labelled": f"{HEAD}{DOMINO}{DOMINO.replace('A', 'C')}{LABELLED}",
    "family": f"{HEAD}{DOMINO}{DOMINO.replace('A', 'C')}{LABELLED}{FAMILY}",
    "cut": f'{HEAD}\n[cut]\nrows = ["AAB", "ABB"]\n',
    "cut-cells": f"{HEAD}\n[cut.cells]\nA = [[0, 0], [0, 1]]\nB2 = [[1, 0], [1, 1]]\n",
    "config": "layer_height = 0.2\nfirst_layer_height = 0.2\nnozzle_diameter = 0.4\n"
    "bed_shape = 0x0,250x0,250x210,0x210\nmax_print_height = 210\nfilament_density = 1.24\n",
    "challenge": f'{HEAD}{DOMINO}{TROMINO}\n[[board]]\nid = "tray"\nsize = [2, 3]\n\n[[challenge]]\nid = "one"\n',
}


def piece(key: str, value: object) -> str:
    """A set whose only piece is drawn with one key."""
    return f"{HEAD}{PIECE}{key} = {value}\n"


def challenges(count: int, line: str) -> str:
    return "".join(f'\n[[challenge]]\nid = "c{i}"\n{line}\n' for i in range(count))


LARGE = [[0, 0], [100, 0], [100, 100], [0, 100]]
#: More corners than a piece may have, all in order.
STAIRCASE = [corner for i in range(5000) for corner in ([i, i], [i + 1, i])]
#: A large piece that many challenges claim to have placed.
GIVENS = f'{piece("outline", LARGE)}\n[[board]]\nid = "tray"\nsize = [2, 2]\n' + challenges(
    45, 'given = [{ piece = "A", cells = [[0, 0]] }]'
)


#: Set files that are too large to keep, or that editors and version control would mend.
MADE: dict[str, Callable[[], str | bytes]] = {
    "ball-row-too-long": lambda: piece("balls", [[i, 0, 0] for i in range(3000)]),
    "cells-more-than-10000": lambda: piece("cells", [[0, i] for i in range(10_001)]),
    "corners-more-than-10000": lambda: piece("outline", [*STAIRCASE, [5000, 5000], [0, 5000]]),
    "file-cells-too-many": lambda: HEAD + DOMINO + challenges(25, f"outline = {LARGE}"),
    "file-empty": lambda: "",
    "file-is-utf-16": lambda: (HEAD + DOMINO).encode("utf-16"),
    "file-not-utf-8": lambda: f"# Stück für Stück\n{HEAD}{DOMINO}".encode("latin-1"),
    "file-too-large": lambda: "#" * (8 * 1024 * 1024 + 1),
    "givens-of-large-piece": lambda: GIVENS,
    "key-too-long": lambda: f"{'k' * 100_000} = 1\n{HEAD}{DOMINO}",
    "keys-nested-too-deep": lambda: f"{'a.' * 15_000}a = 1\n{HEAD}{DOMINO}",
    "lists-nested-too-deep": lambda: piece("outline", "[" * 5000 + "]" * 5000),
    "number-of-5000-digits": lambda: piece("area", "9" * 5000),
    # Of few corners: it passes by a hundred thousand cells and encloses none.
    "outline-too-long": lambda: piece("outline", [[0, 0], [9000, 0]] * 10),
    "keys-unknown-sixty": lambda: HEAD + DOMINO + "".join(f"x{i} = 1\n" for i in range(60)),
}
#: Command lines that draw or compute for long before they are refused.
LATE = {
    "booklet-only-board-too-large",
    "booklet-only-impossible",
    "booklet-only-unknown",
    "balls-bed-too-low",
    "board-bed-too-low",
    "board-bed-too-low-for-make",
    "page-challenge-impossible",
    "holes-bed-too-low",
    "page-challenge-unknown",
    "show-width-too-high",
}
#: Also run as a process of its own.
PROCESSES = [("set", "outline-knights-move"), ("cli", "set-with-escape")]


def measured(case: Case) -> str:
    """A list of values of the coupon."""
    if "input" in case:
        return str(case["input"])
    head, *rows = measurement_csv([*coupon_places(load_profile()).values()]).splitlines()
    lines = {}
    for at, row in enumerate(rows):
        number, what, nominal, _ = row.split(",")
        if what.startswith("magnet"):
            continue
        value = float(nominal) + 0.01 * (at % 3)
        if case.get("kinds", "") in what and number not in case.get("without", "").split():
            lines[number] = f"{number},{what},{nominal},{value * float(case.get('times', 1)):.3f}"
    lines |= {row.partition(",")[0]: row for row in case.get("rows", "").strip().splitlines()}
    return "\n".join([head, *lines.values()]) + "\n"


def text_of(kind: str, name: str) -> str:
    """The file of a case that a table holds."""
    case = TABLES[kind][name]
    if "input" in case:
        return str(case["input"]) + "\n" * ("ending" not in case)
    text = BASES[case.get("base", "svg")].replace("{name}", name)
    if "change" in case:
        old, new = case["change"]
        assert text.count(old) == 1, f"{name} changes what its base does not hold once: {old}"
        text = text.replace(old, new)
    return f"{text}{case['add']}\n" if "add" in case else text


def put(kind: str, name: str, case: Case, folder: Path) -> list[str]:
    """Puts a case's input into a folder; returns the command line that reads it."""
    if kind == "cli":
        (folder / f"{name}.args").write_text("a file where a folder is expected")
        return list(case["arguments"])
    file = f"{name}.{case.get('ending', 'ini' if kind == 'config' else 'toml')}"
    if kind == "measured":
        (folder / f"{name}.csv").write_text(measured(case))
        return ["calibrate", "--from", f"{name}.csv"]
    content = MADE[name]() if kind == "made" else text_of(kind, name)
    (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    if "svg" in case:
        (folder / f"{name}.svg").write_text(case["svg"], encoding="utf-8", newline="\n")
    if kind == "challenge":
        set_name = name.partition("-")[0]
        if set_name not in shipped_names():
            shutil.copy(SETS / f"{set_name}.toml", folder)
            set_name += ".toml"
        return ["solve", set_name, "--file", file]
    if kind == "config":
        return ["slice", "fridgeiq", "--config", file]
    return ["export-stl", "fridgeiq", "-p", file] if kind == "profile" else ["export-stl", file]


def content_of(folder: Path) -> dict[str, bytes | None]:
    """Every file in a folder by name with its bytes, and every folder in it.

    What libraries keep in the user's folder for that is no file of a command: ezdxf lists fonts
    there.
    """
    names = {path: path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    return {
        name: path.read_bytes() if path.is_file() else None
        for path, name in names.items()
        if not f"{name}/".startswith(".cache/")
    }


def in_toml(value: Any) -> str:
    """A value as a person would write it: texts of several lines as they stand, if they can."""
    if isinstance(value, list):
        return f"[{', '.join(map(in_toml, value))}]"
    if "\n" not in value:
        literal = '"' in value and "'" not in value and value.isprintable()
        quoted = json.dumps(value, ensure_ascii=not value.isprintable())
        return f"'{value}'" if literal else quoted.replace("\x7f", "\\u007F")
    plain = value.replace("\n", "")
    if plain.isprintable() and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    return json.dumps(value).replace("\x7f", "\\u007F")


def update_table(kind: str, changed: dict[str, Case]) -> None:
    """Write a table of cases again, in alphabetical order, with those that a test has changed."""
    with FileLock(BAD / f"{kind}.lock"):
        table = read_table(kind) | changed
        cases = [
            f"[{name}]\n"
            + "".join(f"{key} = {in_toml(value)}\n" for key, value in table[name].items())
            for name in sorted(table)
        ]
        (BAD / f"{kind}.toml").write_text("\n".join(cases), encoding="utf-8", newline="\n")


#: How many cases one test tries, so that tests can be shared out among processes.
CASES_OF_A_TEST = 60


def parts() -> Iterator[Any]:
    """The names of all cases in parts: each takes some from the whole table, since quick ones are
    neighbours.
    """
    for kind, table in TABLES.items():
        names = [name for name in table if name not in LATE]
        count = -(-len(names) // CASES_OF_A_TEST)
        for part in range(count):
            yield pytest.param(kind, names[part::count], id=f"{kind}-{part + 1}-of-{count}")
    yield pytest.param("cli", sorted(LATE), id="cli-late", marks=pytest.mark.integration)


@pytest.mark.parametrize(("kind", "names"), parts())
def test_bad_input_gets_its_message(
    kind: str,
    names: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert TABLES["made"].keys() == MADE.keys()
    faults, found = [], {}
    for name in names:
        case = TABLES[kind][name]
        home = tmp_path / name
        home.mkdir()
        monkeypatch.chdir(home)
        monkeypatch.setenv("HOME", str(home))
        arguments = put(kind, name, case, home)
        before = content_of(home)
        try:
            code = main(arguments)
        except BaseException as error:
            faults.append(f"{name}: {type(error).__name__}: {error}")
            continue
        out, err = capsys.readouterr()
        found[name] = {**case, "message": err.rstrip("\n")}
        if (code, out, "Traceback" in err) != (2, "", False):
            faults.append(f"{name}: exit code {code}: {out}{err}")
        elif found[name] != case and not UPDATE:
            faults.append(f"{name}:\n  found    {err}  expected {case['message']}")
        if left := content_of(home).keys() - before.keys():
            faults.append(f"{name}: leaves files behind: {', '.join(sorted(left))}")
        elif content_of(home) != before:
            faults.append(f"{name}: changes or removes files")
    assert not faults, "\n".join(faults)
    if UPDATE:
        update_table(kind, found)


@pytest.mark.parametrize(("kind", "name"), PROCESSES)
def test_bad_input_ends_a_process_in_order(kind: str, name: str, tmp_path: Path) -> None:
    case = TABLES[kind][name]
    arguments = put(kind, name, case, tmp_path)
    before = content_of(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "fabkit", *arguments], cwd=tmp_path,
        capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    expected = (2, "", case["message"])
    assert (done.returncode, done.stdout, done.stderr.rstrip("\n")) == expected
    assert content_of(tmp_path) == before


def names_in(value: object) -> set[str]:
    """All keys of a document and of the tables in it."""
    if isinstance(value, list):
        return set().union(*map(names_in, value))
    return set(value).union(*map(names_in, value.values())) if isinstance(value, dict) else set()


#: The set files to change: the shipped ones, and those of the tests that have the other keys.
MUTATED = [
    *(shipped_folder() / f"{name}.toml" for name in shipped_names()),
    *(SETS / f"{name}.toml" for name in ("keys", "pegs", "chequer", "cut")),
]


#: Keys that fabkit alone writes, and one that names another file.
NOT_MUTATED = {
    *("parity", "half_width", "centre", "file", "solution", "count_up_to_symmetry", "unique_by"),
    *("minimal", "rigid", "shape", "svg"),
}


def test_every_key_of_a_set_file_is_in_one_that_is_mutated() -> None:
    tables = schema_of("set")["$defs"].items()  # those of profiles have other names
    known = {key for name, table in tables if name.endswith("Table") for key in table["properties"]}
    held = set().union(*(names_in(tomllib.loads(path.read_text("utf-8"))) for path in MUTATED))
    assert known - held == NOT_MUTATED


def read_and_use(path: Path) -> None:
    """Reads a set, and makes the first members of its families by their names."""
    for family in read_set(path).families:
        for chosen in islice(family.choices(), 3):
            assert family.find(family.name(chosen)), family.name(chosen)


@pytest.mark.in_turn
@pytest.mark.parametrize("original", MUTATED, ids=lambda path: path.stem)
def test_no_mutation_of_a_set_gets_past_the_reader_unseen(original: Path, tmp_path: Path) -> None:
    content = original.read_bytes()
    path = tmp_path / "mutated.toml"
    count = 20 if original.parent == shipped_folder() else 60
    changed = (mutated(content, random.Random(f"{original.stem} {seed}")) for seed in range(count))
    assert surprises(path, changed, lambda: read_and_use(path)) == []
