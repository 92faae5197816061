"""The engines by name, each imported when it is wanted."""

from __future__ import annotations

from importlib import import_module

from fabkit.base.errors import InputError, did_you_mean, shown
from fabkit.solve.engine import Engine

_PLACES = {
    "search": ("fabkit.solve.search", "Search"),
    "count": ("fabkit.solve.count", "Count"),
    "sat": ("fabkit.solve.sat", "Sat"),
    "cp-sat": ("fabkit.solve.cpsat", "CpSat"),
    "mip": ("fabkit.solve.mip", "Mip"),
    "oracle": ("fabkit.solve.oracle", "Oracle"),
}

#: The engines' names, the fastest for most things first.
ENGINES = tuple(_PLACES)


def engine(name: str) -> Engine:
    """The engine of that name.

    Raises:
        InputError: when there is none.

    Example:
        >>> engine("oracle").name
        'oracle'
    """
    if name not in _PLACES:
        known = ", ".join(ENGINES)
        hint = did_you_mean(name, ENGINES)
        raise InputError.of(
            "--engine", f"there is no engine {shown(name)}{hint or f'; known are {known}'}"
        )
    module, cls = _PLACES[name]
    made = getattr(import_module(module), cls)()
    assert isinstance(made, Engine)
    return made
