"""What PrusaSlicer says: of each object when asked for ``--info``, and while it slices."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fabkit.core.errors import printable

_MOST_COMPLAINTS = 20
#: How far it has come, and what goes into its log below warnings.
_HARMLESS = re.compile(
    r"\d+ => .*|Slicing result exported to .*|\[[^\]]*\] \[[^\]]*\] \[(trace|debug|info)\].*"
)
#: What its log puts before a message.
_LOGGED = re.compile(r"\[[^\]]*\] \[[^\]]*\] \[(\w+)\]\s*")


@dataclass(frozen=True)
class Model:
    """An object of a file, as the slicer describes it.

    Attributes:
        manifold: whether its mesh is closed.
        open_edges: how many edges are not.
    """

    manifold: bool
    open_edges: int


def read_models(said: str, file: str) -> tuple[Model, ...]:
    r"""The objects that ``--info`` tells of, in the order of the slicer's list.

    Args:
        said: what the slicer said.
        file: the name under which it got the file.

    Example:
        >>> read_models("[a.3mf]\nmanifold = no\nopen_edges = 3\n[a.3mf]\nmanifold = yes", "a.3mf")
        (Model(manifold=False, open_edges=3), Model(manifold=True, open_edges=0))
    """
    blocks: list[dict[str, str]] = []
    for line in said.splitlines():
        key, _, value = line.partition("=")
        if line.strip() == f"[{file}]":
            blocks.append({})
        elif blocks:
            blocks[-1][key.strip()] = value.strip()
    return tuple(
        Model(block.get("manifold") == "yes", _count(block.get("open_edges", "")))
        for block in blocks
    )


def read_complaints(said: str) -> tuple[str, ...]:
    r"""What is neither progress nor chat in what a slicer said, a paragraph each.

    Example:
        >>> read_complaints("20 => Generating perimeters\nprint warning: Empty layer.\n\nObject: A\n")
        ('print warning: Empty layer. Object: A',)
    """
    complaints: list[str] = []
    fresh = True
    for line in said.splitlines():
        if _HARMLESS.fullmatch(line):
            fresh = True
        elif line.strip():
            text = printable(_LOGGED.sub(r"\1: ", line).strip())
            if fresh:
                complaints.append(text)
            else:
                complaints[-1] = f"{complaints[-1]} {text}"[:400]
            fresh = False
    return tuple(complaints[:_MOST_COMPLAINTS])


def _count(text: str) -> int:
    return int(text) if re.fullmatch(r"\d{1,9}", text) else 0
