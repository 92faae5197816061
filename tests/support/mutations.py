"""Documents as a careless editor, a script or a failing disk would change them."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterable
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import tomli_w

from fabkit.core.errors import InputError

# What no TOML value is meant to be, somewhere.
UNUSUAL = (
    True, 0, -1, 10**9, 10**400, -(10**400), 0.5, -0.0, 1e308, float("nan"), float("inf"),
    "", " ", "A", "../x", "\x1b[31m\u202e\0", "x" * 3000, date(2024, 2, 29),
    [], [[]], [[0, 0]], [[0.25, float("nan")], [10**400, True]], ["A", "A"],
    {}, {"id": "A"}, [{}], [{"id": {}}],
)  # fmt: skip


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
        container[key] = rng.choice(UNUSUAL)
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


def mutated(content: bytes, rng: random.Random) -> bytes:
    """A TOML file with values or bytes changed, moved, doubled, taken out or cut off."""
    if rng.random() < 0.6:
        document = tomllib.loads(content.decode())
        for _ in range(rng.randint(1, 3)):
            change_value(document, rng)
        return tomli_w.dumps(document).encode()
    at = rng.randrange(len(content))
    end = at + rng.randint(1, 40)
    middle = rng.choice(
        [b"", content[at:end] * 2, bytes(rng.choices(b"019.-[]{}\"'=\n\0\xff", k=3))]
    )
    return content[:at] + middle + (content[end:] if rng.random() < 0.8 else b"")


def surprises(path: Path, contents: Iterable[bytes], read: Callable[[], object]) -> list[str]:
    """What reading a file raises that is no `InputError`, with each of some contents."""
    found = []
    for number, content in enumerate(contents):
        path.write_bytes(content)
        try:
            read()
        except InputError:
            pass
        except Exception as error:
            found.append(f"{number}: {type(error).__name__}: {error}")
    return found
