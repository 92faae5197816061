"""Sizes of paper: which one a booklet gets, and fold-out pages for what is larger."""

from __future__ import annotations

from collections.abc import Sequence

from fabkit.core.errors import InputError, did_you_mean, many, shown
from fabkit.core.units import format_mm

#: Width and height in mm.
Size = tuple[float, float]

#: The papers a booklet can be printed on, upright.
PAPERS: dict[str, Size] = {"a5": (148.0, 210.0), "a4": (210.0, 297.0), "letter": (215.9, 279.4)}
#: Those of which one is chosen when none is asked for.
_USUAL = ("a5", "a4")
#: Larger ones for single pages that are folded in, by the paper of the others.
_FOLDED: dict[str, tuple[str, ...]] = {
    "a5": ("A4", "A3", "A2"),
    "a4": ("A3", "A2"),
    "letter": ("tabloid", "ANSI C"),
}
_LARGE: dict[str, Size] = {
    "A4": (210.0, 297.0),
    "A3": (297.0, 420.0),
    "A2": (420.0, 594.0),
    "tabloid": (279.4, 431.8),
    "ANSI C": (431.8, 558.8),
}
#: What of a page is free for a shape: without what is above it and below it, and without the edges
#: that printers leave white.
HEAD_MM, FOOT_MM, EDGE_MM = 14.0, 12.0, 5.0
#: A length may be so much too large (rounding).
_SLACK_MM = 0.001


def content_of(size: Size) -> Size:
    """The room on a page of some size.

    Example:
        >>> content_of((210, 297))
        (200.0, 271.0)
    """
    return size[0] - 2 * EDGE_MM, size[1] - HEAD_MM - FOOT_MM


def holds(room: Size, needed: Size) -> bool:
    """Whether there is room enough."""
    return all(want <= there + _SLACK_MM for want, there in zip(needed, room, strict=True))


def ways(size: Size) -> tuple[Size, Size]:
    """A paper as it is, and turned."""
    return size, (size[1], size[0])


def choose_paper(needed: Sequence[Size], asked: str | None) -> tuple[str, Size]:
    """The paper of a booklet, upright or lying.

    Without a wish it is A5 if most shapes fit on it at full size, and else A4; and it lies on its
    side if more of them fit so.

    Args:
        needed: for each shape the room it takes with all that is said of it, in mm.
        asked: one of `PAPERS`; None leaves the choice.

    Returns:
        Its name, and its width and height in mm.

    Raises:
        InputError: when there is no such paper, or none of the shapes fits on the one asked for.

    Example:
        >>> choose_paper([(120, 150), (180, 210)], None), choose_paper([(180, 100)], "a5")
        (('a4', (210.0, 297.0)), ('a5', (210.0, 148.0)))
    """
    if asked is not None:
        return asked, _best_way(needed, asked)
    for name in _USUAL:
        size = _best_way(needed, name, refuse=False)
        if 2 * _fitting(needed, size) > len(needed):
            return name, size
    return _USUAL[-1], PAPERS[_USUAL[-1]]


def _best_way(needed: Sequence[Size], name: str, refuse: bool = True) -> Size:
    """The paper as most shapes fit on it; upright if it does not matter."""
    if name not in PAPERS:
        message = f"there is no paper {shown(name)}; there are {', '.join(PAPERS)}"
        raise InputError.of("--paper", message + did_you_mean(name, list(PAPERS)))
    best = max(ways(PAPERS[name]), key=lambda size: _fitting(needed, size))
    if refuse and needed and not _fitting(needed, best):
        raise InputError.of("--paper", _too_small(needed, name))
    return best


def _fitting(needed: Sequence[Size], size: Size) -> int:
    """How many of the shapes fit on a page."""
    return sum(holds(content_of(size), one) for one in needed)


def _too_small(needed: Sequence[Size], name: str) -> str:
    least = min(needed, key=lambda one: one[0] * one[1])
    wide, high = (
        format_mm(side, 1) for side in (least[0] + 2 * EDGE_MM, least[1] + HEAD_MM + FOOT_MM)
    )
    enough = [
        other for other in PAPERS if any(_fitting(needed, size) for size in ways(PAPERS[other]))
    ]
    if len(needed) == 1:
        what, which = "the challenge does not", "it"
    else:
        what, which = f"none of {many(len(needed), 'challenge')} does", "the smallest"
    if enough:
        do = f"the least paper that would do is {enough[0]}"
    elif fold_out(least, _USUAL[-1], PAPERS[_USUAL[-1]]):
        do = "leave --paper out, and there will be a page to fold in"
    else:
        do = "leave --paper out, and it will be drawn smaller"
    return (
        f"{name} is too small: {what} fit on it at full size (1:1), and {which} needs "
        f"{wide.removesuffix(' mm')} x {high}; {do}"
    )


def fold_out(needed: Size, paper: str, usual: Size) -> tuple[Size, str] | None:
    """A page for a shape at full size: as the others are, turned, or a larger one to fold in.

    Args:
        needed: the room it takes, in mm.
        paper: the booklet's, one of `PAPERS`.
        usual: as its pages are.

    Returns:
        Width and height in mm, and the size's name if it is a larger one; None when it does not fit
        on the largest.

    Example:
        >>> fold_out((240, 260), "a4", PAPERS["a4"]), fold_out((900, 900), "a4", PAPERS["a4"])
        (((297.0, 420.0), 'A3'), None)
    """
    sizes = [(way, "") for way in ways(usual)]
    sizes += [(way, name) for name in _FOLDED[paper] for way in ways(_LARGE[name])]
    return next((one for one in sizes if holds(content_of(one[0]), needed)), None)
