"""Prints taken in for tests: exported once, read back from their meshes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fabkit.mesh.body import Body
from fabkit.model.library import load_set
from fabkit.verify.flat import FlatTaken as Taken
from fabkit.verify.taking import take
from tests.support.prints import Order, Print, print_set
from tests.support.shapes import body_of


@lru_cache
def printed_set(set_name: str, order: Order) -> tuple[Print, ...]:
    """A set's pieces, written and read back."""
    with TemporaryDirectory() as folder:
        return tuple(print_set(set_name, order, Path(folder)))


def bodies(set_name: str, order: Order) -> tuple[Body, ...]:
    """The bodies of a set's STL files."""
    return tuple(body_of(one.mesh, f"{one.drawing.id}.stl") for one in printed_set(set_name, order))


@lru_cache
def taken(set_name: str, order: Order) -> Taken:
    """The set as its meshes show it."""
    return take(bodies(set_name, order), load_set(set_name), order.profile().unit_mm)
