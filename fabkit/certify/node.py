"""A value inside a JSON document that may be anything, and the place where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from fabkit.core.errors import InputError, did_you_mean, shown


@dataclass(frozen=True)
class Node:
    """One value of a document. Every method refuses what it did not expect.

    Attributes:
        source: the file.
        key: the place in the file, such as ``problem.pieces[3].id``; empty at the top.
        value: what stands there.
    """

    source: str
    key: str
    value: Any

    def fail(self, message: str) -> NoReturn:
        """Refuses the value."""
        raise InputError.of(self.source, message, self.key)

    def expected(self, what: str) -> NoReturn:
        """Refuses the value, and shows it."""
        self.fail(f"expected {what}, found {_shown(self.value)}")

    def fields(self, *names: str) -> dict[str, Node]:
        """The fields of an object that has exactly these.

        Raises:
            InputError: when it is no object, one is missing, or there is another.

        Example:
            >>> Node("a.json", "claim", {"answer": "unique"}).fields("answer")["answer"].key
            'claim.answer'
        """
        if not isinstance(self.value, dict):
            self.expected("an object")
        for name in self.value:
            if name not in names:
                hint = did_you_mean(name, names) or f"; known are {', '.join(names)}"
                self.fail(f"unknown key {shown(name)}{hint}")
        missing = [name for name in names if name not in self.value]
        if missing:
            self.fail(f"lacks {', '.join(missing)}")
        prefix = f"{self.key}." if self.key else ""
        return {name: Node(self.source, prefix + name, self.value[name]) for name in names}

    def entries(self, what: str, least: int, most: int) -> list[Node]:
        """The entries of a list.

        Args:
            what: the entries' name in messages, such as ``pieces``.
            least: how many there must be.
            most: how many there may be.

        Raises:
            InputError: when it is no list, or one of another length.
        """
        if not isinstance(self.value, list):
            self.expected(f"a list of {what}")
        if not least <= len(self.value) <= most:
            bound = f"at least {least}" if len(self.value) < least else f"at most {most}"
            self.fail(f"has {len(self.value)} {what}; expected {bound}")
        return [Node(self.source, f"{self.key}[{i}]", one) for i, one in enumerate(self.value)]

    def whole(self, low: int, high: int | None = None) -> int:
        """A whole number in ``low..high``; no upper bound when ``high`` is None.

        Raises:
            InputError: when it is something else; ``true`` and ``1.0`` are not whole numbers.
        """
        value = self.value
        if type(value) is not int or value < low or (high is not None and value > high):
            bounds = f"of at least {low}" if high is None else f"from {low} to {high}"
            self.expected(f"a whole number {bounds}")
        return value

    def wholes(self, low: int, high: int | None = None) -> tuple[int, ...]:
        """A list of whole numbers; it may hold millions, so no node is made of each.

        Raises:
            InputError: naming the first entry that is something else.
        """
        if not isinstance(self.value, list):
            self.expected("a list of whole numbers")
        found = self.value
        whole = set(map(type, found)) <= {int}
        if found and not (whole and low <= min(found) and (high is None or max(found) <= high)):
            for entry in self.entries("numbers", 0, len(found)):
                entry.whole(low, high)
        return tuple(found)

    def flag(self) -> bool:
        """``true`` or ``false``.

        Raises:
            InputError: when it is something else.
        """
        if not isinstance(self.value, bool):
            self.expected("true or false")
        return self.value

    def text(self, longest: int = 200) -> str:
        """A short text that can be printed.

        Raises:
            InputError: when it is something else.
        """
        if not isinstance(self.value, str):
            self.expected("a text")
        if not 0 < len(self.value) <= longest:
            self.fail(f"is {len(self.value)} characters long; expected 1 to {longest}")
        if not self.value.isprintable():
            self.fail(f"{shown(self.value)} holds characters that cannot be printed")
        return self.value

    def choice(self, *allowed: str) -> str:
        """One of some texts.

        Raises:
            InputError: when it is something else.
        """
        if not isinstance(self.value, str) or self.value not in allowed:
            self.expected(" or ".join(f'"{one}"' for one in allowed))
        return self.value


def _shown(value: object) -> str:
    """The value as JSON calls it."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list) and len(value) > 4:
        return f"a list of {len(value)}"
    return "null" if value is None else shown(value)
