"""Read the settings of a whole set: its marks, and its defaults of the profile."""

from __future__ import annotations

from typing import Any

from fabkit.core.documents import COLOUR
from fabkit.core.errors import ErrorList, InputError, quote
from fabkit.model.lattice import Lattice
from fabkit.model.piece import LOOKS
from fabkit.profiles.profile_file import load_profile, table_values
from fabkit.sets.set_tables import HeadTable, SetFile

#: The table of a set's own defaults of the profile.
PROFILE = "profile"
#: The letter of a cell without a mark, where a set has marks.
PLAIN_LETTER = "X"


def read_looks(head: HeadTable, lattice: Lattice, errors: ErrorList) -> dict[str, str]:
    """Return the looks of marks by letter, and check the second colour."""
    if head.chequer and not lattice.is_square:
        message = f"only squares can be chequered, and the lattice is {lattice.name}; leave it out"
        errors.add("set.chequer", message)
    if "chequer_role" in head.model_fields_set and not head.chequer:
        errors.add("set.chequer_role", 'needs a second colour; write chequer = "#5d3a1a"')
    looks = _looks(head, errors)
    if looks and head.chequer:
        errors.add("set.marks", "exclude set.chequer; choose one")
    return looks


def _looks(head: HeadTable, errors: ErrorList) -> dict[str, str]:
    """Return the looks of marks; after an error the letter itself, which no other mark has."""
    looks: dict[str, str] = {}
    marks = head.marks
    if not isinstance(marks, dict):
        errors.add("set.marks", f"expected a table, found {quote(marks)}")
        return looks
    for letter, look in marks.items():
        if len(letter) != 1 or not letter.isalpha() or letter == PLAIN_LETTER:
            expected = f"expected a single letter other than {PLAIN_LETTER}, the plain cell"
            errors.add("set.marks", f"{expected}; found {quote(letter)}")
            continue
        try:
            looks[letter] = look if look in LOOKS else COLOUR.read(look)
        except ValueError:
            looks[letter] = letter
            expected = f'expected {", ".join(LOOKS)} or a colour such as "#5d3a1a"'
            errors.add(f"set.marks.{letter}", f"{expected}, found {quote(look)}")
        if list(looks.values()).count(looks[letter]) > 1:
            message = f"another mark is {quote(look)} as well; choose another look"
            errors.add(f"set.marks.{letter}", message)
    return looks


def profile_values(file: SetFile, errors: ErrorList) -> dict[str, Any]:
    """Return the set's own defaults of the profile: its unit, and its table."""
    head = file.set
    unit = {} if head.unit is None else {"unit_mm": head.unit}
    if file.profile is None:
        return unit
    values: dict[str, Any] = {"title": f"as {head.name} is made by default"}
    values |= unit | table_values(file.profile)
    if unit and values["unit_mm"] != head.unit:
        errors.add(f"{PROFILE}.unit", "differs from set.unit; write only one of them")
    try:
        load_profile(set_values=values)
    except InputError as error:
        for detail in error.errors:
            errors.add(f"{PROFILE}.{detail.key}", detail.message)
    return values


def former_name_notes(lattice: Lattice, name: str, source: str) -> tuple[str, ...]:
    """Return a note about a lattice's former name."""
    if name == lattice.name:
        return ()
    change = f"is now called {quote(lattice.name)}; write lattice = {quote(lattice.name)}"
    return (f"{source}: set.lattice: {quote(name)} {change}",)
