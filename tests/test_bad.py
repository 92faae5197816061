"""Bad input is refused with one exact message, quickly, and leaves nothing behind.

``tests/bad`` holds the inputs, one fault each, and beside each the text expected on standard
error:

- ``set/NAME.toml`` is run as ``fabkit export-stl NAME.toml``, with ``NAME.svg`` beside it if
  there is one,
- ``profile/NAME.toml`` as ``fabkit export-stl fridgeiq -p NAME.toml``,
- ``challenge/SET-NAME.toml`` or ``.json`` as ``fabkit solve SET --file SET-NAME.toml``,
- ``cli/NAME.args`` is a command line, one argument a line; lines with ``#`` are comments,
- ``made/NAME.txt`` belongs to a set file that `MADE` writes, since it is large or not text.

With FABKIT_UPDATE=1 in the environment the messages are written instead of compared: read
every difference before keeping it, since the corpus says what users will see.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from fabkit.cli import main
from fabkit.core.errors import InputError
from fabkit.model.library import shipped_folder, shipped_names
from fabkit.model.setfile import read_set

BAD = Path(__file__).resolve().parent / "bad"
UPDATE = os.environ.get("FABKIT_UPDATE") == "1"
#: A guard against hangs; nearly all inputs take some hundredths of a second.
LIMIT_S = 30.0
INPUTS = {
    "set": [".toml"],
    "profile": [".toml"],
    "challenge": [".toml", ".json"],
    "cli": [".args"],
}

HEAD = '[set]\nname = "mine"\nlattice = "square"\nmoves = "rotations"\n'
DOMINO = '[[piece]]\nid = "A"\ncells = [[0, 0], [0, 1]]\n'


def piece(key: str, value: object) -> str:
    """A set whose only piece is drawn with one key."""
    return f'{HEAD}\n[[piece]]\nid = "A"\n{key} = {value}\n'


def many_corners() -> str:
    """A staircase of more corners than a piece may have, all in order."""
    up = [corner for i in range(5000) for corner in ([i, i], [i + 1, i])]
    return piece("outline", [*up, [5000, 5000], [0, 5000]])


def long_way() -> str:
    """An outline of few corners that passes by a hundred thousand cells and encloses none."""
    return piece("outline", [[0, 0], [9000, 0]] * 10)


def many_givens() -> str:
    """A large piece that many challenges claim to have placed."""
    large = piece("outline", [[0, 0], [100, 0], [100, 100], [0, 100]])
    given = 'given = [{ piece = "A", cells = [[0, 0]] }]'
    return f'{large}\n[[board]]\nid = "tray"\nsize = [2, 2]\n' + "".join(
        f'\n[[challenge]]\nid = "c{i}"\n{given}\n' for i in range(45)
    )


def many_regions() -> str:
    """Challenges that are fine one by one, but hold more cells than a file may."""
    region = "outline = [[0, 0], [100, 0], [100, 100], [0, 100]]"
    return f"{HEAD}\n{DOMINO}" + "".join(
        f'\n[[challenge]]\nid = "c{i}"\n{region}\n' for i in range(25)
    )


#: Set files that are too large to keep, or that editors and version control would mend.
MADE: dict[str, Callable[[], str | bytes]] = {
    "ball-row-too-long": lambda: piece("balls", [[i, 0, 0] for i in range(3000)]),
    "cells-more-than-10000": lambda: piece("cells", [[0, i] for i in range(10_001)]),
    "corners-more-than-10000": many_corners,
    "file-cells-too-many": many_regions,
    "file-empty": lambda: "",
    "file-is-utf-16": lambda: (HEAD + DOMINO).encode("utf-16"),
    "file-not-utf-8": lambda: f"# Stück für Stück\n{HEAD}{DOMINO}".encode("latin-1"),
    "file-too-large": lambda: "#" * (8 * 1024 * 1024 + 1),
    "givens-of-large-piece": many_givens,
    "key-too-long": lambda: f"{'k' * 100_000} = 1\n{HEAD}{DOMINO}",
    "keys-nested-too-deep": lambda: f"{'a.' * 15_000}a = 1\n{HEAD}{DOMINO}",
    "lists-nested-too-deep": lambda: piece("outline", "[" * 5000 + "]" * 5000),
    "number-of-5000-digits": lambda: piece("area", "9" * 5000),
    "outline-too-long": long_way,
    "keys-unknown-sixty": lambda: HEAD + DOMINO + "".join(f"x{i} = 1\n" for i in range(60)),
}


def names_in(kind: str, suffix: str) -> set[str]:
    return {path.stem for path in (BAD / kind).glob(f"*{suffix}")}


CASES = sorted(
    [
        (kind, name)
        for kind, suffixes in INPUTS.items()
        for suffix in suffixes
        for name in names_in(kind, suffix)
    ]
    + [("made", name) for name in MADE]
)
#: One of every kind, also run as a process of its own.
PROCESSES = [
    ("set", "outline-knights-move"),
    ("set", "toml-unquoted"),
    ("profile", "chamfer-past-the-limit"),
    ("challenge", "iqblock-json-truncated"),
    ("challenge", "iqfit-given-piece-with-escape"),
    ("cli", "command-unknown"),
    ("cli", "set-with-escape"),
    ("made", "file-not-utf-8"),
]


def put(kind: str, name: str, folder: Path) -> list[str]:
    """Puts a case's input into a folder; returns the command line that reads it."""
    if kind == "made":
        content = MADE[name]()
        content = content if isinstance(content, bytes) else content.encode()
        (folder / f"{name}.toml").write_bytes(content)
        return ["export-stl", f"{name}.toml"]
    (source,) = (p for s in INPUTS[kind] if (p := BAD / kind / f"{name}{s}").exists())
    (folder / source.name).write_bytes(source.read_bytes())
    if kind == "set":
        drawing = source.with_suffix(".svg")
        if drawing.exists():
            (folder / drawing.name).write_bytes(drawing.read_bytes())
        return ["export-stl", source.name]
    if kind == "challenge":
        return ["solve", name.partition("-")[0], "--file", source.name]
    if kind == "profile":
        return ["export-stl", "fridgeiq", "-p", source.name]
    lines = source.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def check(kind: str, name: str, code: int | None, out: str, err: str) -> None:
    """Holds what a command did against what the corpus says; or writes the corpus."""
    assert "Traceback" not in err, err
    assert (code, out) == (2, ""), err
    message = BAD / kind / f"{name}.txt"
    if UPDATE:
        message.parent.mkdir(parents=True, exist_ok=True)
        message.write_text(err, encoding="utf-8", newline="\n")
    assert err == message.read_text(encoding="utf-8")


def content_of(folder: Path) -> dict[str, bytes | None]:
    """Every file in a folder by name with its bytes, and every folder in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(("kind", "name"), CASES, ids=[f"{kind}-{name}" for kind, name in CASES])
def test_bad_input_gets_its_message(
    kind: str, name: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = put(kind, name, home)
    before = content_of(home)
    start = time.monotonic()
    code = main(arguments)
    seconds = time.monotonic() - start
    said = capsys.readouterr()
    check(kind, name, code, said.out, said.err)
    assert content_of(home) == before
    assert seconds < LIMIT_S


@pytest.mark.parametrize(
    ("kind", "name"), PROCESSES, ids=[f"{kind}-{name}" for kind, name in PROCESSES]
)
def test_bad_input_ends_a_process_in_order(kind: str, name: str, home: Path) -> None:
    arguments = put(kind, name, home)
    before = content_of(home)
    done = subprocess.run(
        [sys.executable, "-m", "fabkit", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    check(kind, name, done.returncode, done.stdout, done.stderr)
    assert content_of(home) == before


def test_every_input_has_its_message_and_every_message_its_input() -> None:
    assert len(CASES) >= 25
    for kind in (*INPUTS, "made"):
        assert names_in(kind, ".txt") == {name for which, name in CASES if which == kind}
    assert names_in("set", ".svg") <= names_in("set", ".toml")


# What no TOML value is meant to be, somewhere.
STRANGE = (
    True,
    0,
    -1,
    10**9,
    10**400,
    -(10**400),
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "A",
    "../x",
    "\x1b[31m\u202e\0",
    "x" * 3000,
    date(2024, 2, 29),
    [],
    [[]],
    [[0, 0]],
    [[0.25, float("nan")], [10**400, True]],
    ["A", "A"],
    {},
    {"id": "A"},
    [{}],
    [{"id": {}}],
)


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a TOML document, as a container and a key or index in it."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    for key in keys:
        if isinstance(value[key], dict | list):
            found += places_in(value[key])
    return found


def change_value(document: dict[str, Any], rng: random.Random) -> None:
    """Puts something else at one place of a document, or moves, doubles or removes what is there."""
    container, key = rng.choice(places_in(document))
    way = rng.choice(["replace", "replace", "borrow", "remove", "rename", "double", "bury"])
    if way == "replace":
        container[key] = rng.choice(STRANGE)
    elif way == "borrow":
        other, place = rng.choice(places_in(document))
        container[key] = deepcopy(other[place])
    elif way == "bury":
        for _ in range(rng.choice([1, 2, 50])):
            container[key] = [container[key]]
    elif way == "double" and isinstance(container, list):
        container.append(container[key])
    elif way == "rename" and isinstance(container, dict):
        container[str(key) + rng.choice("sX_. \n")] = container.pop(key)
    else:
        del container[key]


def change_bytes(content: bytes, rng: random.Random) -> bytes:
    """Overwrites some bytes of a file, or takes out, doubles or cuts off a part of it."""
    changed = bytearray(content)
    at = rng.randrange(len(changed))
    way = rng.choice(["overwrite", "remove", "double", "cut"])
    if way == "overwrite":
        for _ in range(rng.randint(1, 4)):
            changed[rng.randrange(len(changed))] = rng.choice([*b"0123456789.-[]{}\"'=\n", 0, 255])
    elif way == "cut":
        del changed[at:]
    else:
        part = changed[at : at + rng.randint(1, 40)]
        changed[at : at + len(part)] = part * 2 if way == "double" else b""
    return bytes(changed)


def mutated(content: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.4:
        return change_bytes(content, rng)
    document = tomllib.loads(content.decode())
    for _ in range(rng.randint(1, 3)):
        change_value(document, rng)
    return tomli_w.dumps(document).encode()


@pytest.mark.parametrize("name", shipped_names())
def test_no_mutation_of_a_set_gets_past_the_reader_unseen(name: str, tmp_path: Path) -> None:
    content = (shipped_folder() / f"{name}.toml").read_bytes()
    path = tmp_path / "mutated.toml"
    surprises = []
    for seed in range(60):
        path.write_bytes(mutated(content, random.Random(f"{name} {seed}")))
        start = time.monotonic()
        try:
            read_set(path)
        except InputError:
            pass
        except Exception as error:
            surprises.append(f"seed {seed}: {type(error).__name__}: {error}")
        if time.monotonic() - start > LIMIT_S:
            surprises.append(f"seed {seed}: took too long")
    assert surprises == []
