"""Paper sizes: the choice for a booklet, and fold-out pages for larger shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fabkit.core.errors import InputError, no_such, pluralize
from fabkit.core.units import format_mm

#: Width and height in mm.
Size = tuple[float, float]

#: The papers of a booklet, in portrait.
PAPERS: dict[str, Size] = {"a5": (148.0, 210.0), "a4": (210.0, 297.0), "letter": (215.9, 279.4)}
#: Page sizes of folded booklets by the paper of their sheets.
FOLDED: dict[str, Size] = {"a4": PAPERS["a5"], "letter": (139.7, 215.9)}
#: The candidates when no paper is given.
_USUAL = ("a5", "a4")
#: Fold-out pages of booklets on A4.
_A3_A2: dict[str, Size] = {"A3": (297.0, 420.0), "A2": (420.0, 594.0)}
#: Fold-out pages, by the paper of the booklet.
_LARGER: dict[str, dict[str, Size]] = {
    "a5": {"A4": PAPERS["a4"], **_A3_A2},
    "a4": _A3_A2,
    "letter": {"tabloid": (279.4, 431.8), "ANSI C": (431.8, 558.8)},
}
#: Height of a page's head, above the area for shapes.
HEAD_MM = 14.0
#: Height of a page's foot, below the area for shapes.
FOOT_MM = 12.0
#: The edge that printers leave blank.
EDGE_MM = 5.0


def printable_area(size: Size) -> Size:
    """Return the area of a page that is free for shapes: 200 x 271 mm on A4."""
    return size[0] - 2 * EDGE_MM, size[1] - HEAD_MM - FOOT_MM


def has_room(area: Size, needed: Size) -> bool:
    """Return whether the needed size fits, within rounding."""
    return needed[0] <= area[0] + 0.001 and needed[1] <= area[1] + 0.001


def orientations_of(size: Size) -> tuple[Size, Size]:
    """Return portrait and landscape of a paper."""
    return size, (size[1], size[0])


def choose_paper(
    needed: Sequence[Size], requested: str | None, fold: bool = False
) -> tuple[str, Size, Size | None]:
    """Choose the paper of a booklet, in portrait or landscape: return its name, the page size in
    mm, and the sheet size of a folded booklet.

    The default is A5 if most shapes fit on it at full size, else A4; landscape if more of them fit
    that way. A folded booklet defaults to A4, with pages of half its size.

    Args:
        needed: the size of each shape with its texts, in mm; empty when shapes are scaled to fit.
        requested: one of `PAPERS`.

    Raises:
        InputError: when the paper is unknown, cannot be folded, or no shape fits on it.

    Example:
        >>> choose_paper([(120, 150), (180, 210)], None), choose_paper([(180, 100)], "a5")
        (('a4', (210.0, 297.0), None), ('a5', (210.0, 148.0), None))
        >>> choose_paper([], "a4", fold=True)
        ('a4', (148.0, 210.0), (297.0, 210.0))
    """
    if fold:
        name = requested or "a4"
        _best_orientation((), name)
        if name not in FOLDED:
            others = f"there is one of {' and '.join(FOLDED)}"
            raise InputError.of("--paper", f"there is no booklet to fold of {name}; {others}")
        return name, FOLDED[name], PAPERS[name][::-1]
    if requested is not None:
        return requested, _best_orientation(needed, requested), None
    for name in _USUAL:
        size = _best_orientation(needed, name, refuse=False)
        if not needed or 2 * _fitting(needed, size) > len(needed):
            return name, size, None
    return _USUAL[-1], PAPERS[_USUAL[-1]], None


def _best_orientation(needed: Sequence[Size], name: str, refuse: bool = True) -> Size:
    """Return the orientation in which most shapes fit; portrait if both are equal."""
    if name not in PAPERS:
        raise InputError.of("--paper", no_such("paper", name, list(PAPERS)))
    best = max(orientations_of(PAPERS[name]), key=lambda size: _fitting(needed, size))
    if refuse and needed and not _fitting(needed, best):
        raise InputError.of("--paper", _too_small(needed, name))
    return best


def _fitting(needed: Sequence[Size], size: Size) -> int:
    return sum(has_room(printable_area(size), needed_mm) for needed_mm in needed)


def _too_small(needed: Sequence[Size], name: str) -> str:
    smallest = min(needed, key=math.prod)
    wide = format_mm(smallest[0] + 2 * EDGE_MM, 1).removesuffix(" mm")
    high = format_mm(smallest[1] + HEAD_MM + FOOT_MM, 1)
    none, subject = "the challenge does not", "it"
    if len(needed) > 1:
        none, subject = f"none of {pluralize(len(needed), 'challenge')} does", "the smallest"
    for paper, paper_size in PAPERS.items():
        if any(_fitting(needed, size) for size in orientations_of(paper_size)):
            remedy = f"the smallest paper that fits is {paper}"
            break
    else:
        is_foldable = fold_out_page(smallest, _USUAL[-1], PAPERS[_USUAL[-1]])
        remedy = f"omit --paper to {'get a fold-out page' if is_foldable else 'draw it smaller'}"
    reason = f"{name} is too small: {none} fit on it at full size (1:1)"
    return f"{reason}, and {subject} needs {wide} x {high}; {remedy}"


def fold_out_page(needed: Size, paper: str, default: Size) -> tuple[Size, str] | None:
    """Return a page for a shape at full size, which may be turned: the size in mm, and its name if
    it is a fold-out page; None when even the largest is too small.

    Example:
        >>> fold_out_page((240, 260), "a4", PAPERS["a4"]), fold_out_page((900, 900), "a4", PAPERS["a4"])
        (((297.0, 420.0), 'A3'), None)
    """  # noqa: E501
    for name, paper_size in {"": default, **_LARGER[paper]}.items():
        for page in orientations_of(paper_size):
            if has_room(printable_area(page), needed):
                return page, name
    return None
