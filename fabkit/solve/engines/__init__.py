"""The engines by name, each imported when it is wanted."""

from __future__ import annotations

from importlib import import_module

from fabkit.core.errors import InputError, did_you_mean, shown
from fabkit.solve.engines.engine import Engine

_PLACES = {
    "search": ("fabkit.solve.engines.search", "Search"),
    "count": ("fabkit.solve.engines.count", "Count"),
    "sat": ("fabkit.solve.engines.sat", "Sat"),
    "cp-sat": ("fabkit.solve.engines.cpsat", "CpSat"),
    "mip": ("fabkit.solve.engines.mip", "Mip"),
    "oracle": ("fabkit.solve.engines.oracle", "Oracle"),
}

#: The engines' names, the fastest for most things first.
ENGINES = tuple(_PLACES)


def engine_named(name: str) -> Engine:
    """The engine of that name.

    Raises:
        InputError: when there is none.

    Example:
        >>> engine_named("oracle").name
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
