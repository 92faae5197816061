"""Which piece of a set each part is: by its letter, by its outline or its balls, or both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from shapely import Polygon, affinity, union_all
from shapely.geometry.base import BaseGeometry

from fabkit.drawing.glyphs import lettering
from fabkit.drawing.outline import BlueprintError
from fabkit.mesh.features import Cavity, Circle, Features
from fabkit.mesh.finding import DIGITS, Finding, between, counted
from fabkit.mesh.part import BALLS, FLAT, Part
from fabkit.mesh.recognise import normal, overlays
from fabkit.model.piece import is_image
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: It is told what a part is when its score is better than that of anything else by this.
_SURE = 0.005
#: What an engraving may be when it is no piece's label.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#: A letter is read when so much of it and of the font's letter is common to both, and of no other
#: letter but this less; one that is as much like itself when turned looks the same.
_ALIKE, _BETTER = 0.9, 0.02


@dataclass(frozen=True)
class Letter:
    """A letter that was read.

    Attributes:
        likeness: the common part of the letter seen and the font's: 1 when they are the same.
        turns: quarter turns (sixths on a triangular lattice), counter-clockwise, after which
            the font's letter lies as the one seen.
    """

    text: str
    likeness: float
    turns: int
    mirrored: bool


@dataclass(frozen=True, eq=False)
class OnStubs:
    """A part that stands on stubs.

    Attributes:
        whole: the part with its stubs, their ends at height 0.
        plate: the part without, its back at height 0.
        stubs: their circles at half height, in the part's frame, from left to right.
        height_mm: of the stubs.
    """

    whole: Part
    plate: Part
    stubs: tuple[Circle, ...]
    height_mm: float


@dataclass(frozen=True, eq=False)
class ReadPart:
    """A part as it was read, what it is, and what was found on it.

    Attributes:
        part: of one on `stubs` the plate above them.
        key: its name in reports, different from all others': the piece's id, with a number behind
            it for a second one; or ``unknown-1``.
        letter, back: the letters engraved on face and back, if they were read; `strange` that on
            the face, if no piece has it.
        alike: the ids of the pieces that have its outline, or its balls and links; `mirrored` if
            they have it only when turned over, or in a mirror.
    """

    part: Part
    features: Features | None = None
    stubs: OnStubs | None = None
    findings: tuple[Finding, ...] = ()
    key: str = ""
    piece: str | None = None
    letter: Letter | None = None
    alike: tuple[str, ...] = ()
    mirrored: bool = False
    strange: Letter | None = None
    back: Letter | None = None

    @property
    def as_drawn(self) -> bool:
        """Whether it has the shape of its piece, as the set's file draws it."""
        return self.piece in self.alike and not self.mirrored

    @property
    def name(self) -> str:
        """The file that it was in."""
        return self.part.name

    @property
    def is_piece(self) -> bool:
        """Whether it may be a piece: it is no board and no lid."""
        return self.part.kind in (FLAT, BALLS)

    @property
    def words(self) -> str:
        """What it is, for people: ``A``, or ``same shape as E and R``."""
        if not self.is_piece:
            return self.part.kind or "not read"
        if self.letter or len(self.alike) < 2:
            return self.key
        return f"same shape as {' and '.join(self.alike)}"

    @property
    def failed(self) -> list[Finding]:
        """The findings of the rules that it does not keep."""
        return [finding for finding in self.findings if not finding.ok]

    def reading(self) -> dict[str, Any]:
        """What it is and how it was read, for JSON."""
        part = self.part
        if not self.is_piece:
            board = part.board.id if part.board else None
            return {"file": self.name, "kind": part.kind or None, "board": board}
        found: dict[str, Any] = {"file": self.name, "piece": self.piece, "is": self.words}
        if part.outline:
            numbers: dict[str, Any] = {
                "cells": len(part.outline.cells),
                "unit_mm": round(part.outline.unit_mm, DIGITS),
                "inset_mm": round(part.outline.inset_mm, DIGITS),
                "hausdorff_mm": round(part.hausdorff_mm, DIGITS),
                "area_off": round(part.area_off, DIGITS),
            }
        elif balls := part.balls:
            numbers = {
                "balls": len(balls.shape.balls),
                "links": len(balls.shape.bonds),
                "unit_mm": round(balls.pitch_mm, DIGITS),
                "off_mm": round(balls.off_mm, DIGITS),
                "balls_mm": [round(mm, DIGITS) for mm in balls.diameters_mm],
                "links_mm": [
                    None if math.isnan(mm) else round(mm, DIGITS) for mm in balls.links_mm
                ],
            }
        else:
            return found | {"read": False} | ({"why": part.why} if part.why else {})
        return found | {"read": True, "as_drawn": self.as_drawn} | numbers

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "ok": not self.failed,
            **self.reading(),
            "watertight": all(one.ok for one in self.findings if one.rule == "watertight"),
            "volume_mm3": round(self.part.volume_mm3, DIGITS),
            "bbox_mm": np.ptp(self.part.vertices, axis=0).round(DIGITS).tolist(),
            "findings": [finding.document() for finding in self.findings],
        }


def identify(
    parts: Sequence[Part], found: Sequence[Features | None], puzzle: PuzzleSet
) -> list[ReadPart]:
    """Which piece of the set each part is, given what is open in it (None for pieces of balls).

    The letter decides; without one that can be read, the outline or the balls. Those with letters
    choose first; of several parts alike the order of their volumes decides, so that names do not
    depend on the order of files. One with the balls of a piece but other links is not `alike`.
    """
    seen = [_seen(part, one, puzzle) for part, one in zip(parts, found, strict=True)]

    def first(i: int) -> tuple[object, ...]:
        """What tells parts alike apart however they are turned, named or ordered."""
        around = parts[i].shadow.length if parts[i].kind == FLAT else 0.0
        return not seen[i].letter, round(parts[i].volume_mm3, 2), round(around, 2), i

    taken, result = Counter[str](), list(seen)
    for i in sorted(range(len(parts)), key=first):
        alike, letter = seen[i].alike, seen[i].letter
        if letter:  # which several pieces may have
            lettered = [piece.id for piece in puzzle.pieces if piece.label == letter.text]
            alike = tuple(one for one in lettered if one in alike) or tuple(lettered)
        piece = next((one for one in alike if one not in taken), alike[0] if alike else None)
        key = numbered(piece or "unknown", taken, piece is not None)
        balls = parts[i].balls
        alike = () if balls and not balls.as_linked else seen[i].alike
        result[i] = replace(seen[i], key=key, piece=piece, alike=alike)
    return result


def numbered(stem: str, taken: Counter[str], is_known: bool) -> str:
    """A key of its own for what is called so: the first that is known needs no number."""
    taken[stem] += 1
    return stem if is_known and taken[stem] == 1 else f"{stem}-{taken[stem]}"


def _seen(part: Part, found: Features | None, puzzle: PuzzleSet) -> ReadPart:
    """What a part shows, without a name."""
    if part.balls:
        return ReadPart(part, alike=part.balls.alike, mirrored=part.balls.mirrored)
    if part.outline is None or found is None:
        return ReadPart(part, found)
    texts, lattice = [piece.label for piece in puzzle.pieces], puzzle.lattice
    read = partial(read_letter, found.labels, turns=len(lattice.moves(False)))
    letter, back = read(texts), read(texts, back=True)
    strange = None if letter else read(_ALPHABET)
    shown = ReadPart(part, found, letter=letter, strange=strange, back=back)
    for flips in (False, True):
        cells, pieces = part.outline.cells, puzzle.pieces
        if alike := tuple(one.id for one in pieces if is_image(lattice, one, cells, flips)):
            return replace(shown, alike=alike, mirrored=flips)
    return shown


def unsure(rule: str, part: Part, what: str) -> Finding | None:
    """A finding on a part that is as much like something else; None when it is clear what it is.

    Nothing else that is measured on it would mean anything.
    """
    # One cell more or less is another board, however many it has.
    least = min(_SURE, 0.5 / len(part.board.cells)) if part.board else _SURE
    if part.second is None or part.margin >= least:
        return None
    other, score = part.second
    message = (
        f"it is as much like {what} ({part.score:.3f}) as like {other} ({score:.3f}): it cannot be "
        "told which it is"
    )
    return Finding(rule, False, part.margin, least, "", message, part.shadow.boundary)


def identity_findings(one: ReadPart, profile: Profile) -> Iterator[Finding]:
    """What the outline and the letter say of a part: is it a piece of the set?"""
    part, outline = one.part, one.part.outline
    if outline is None:
        message = "its outline does not lie on the set's lattice"
        yield Finding("read-back", False, None, None, "mm", message, part.shadow.boundary)
        return
    what = f"how far the outline is off ({part.area_off:+.1%} of its area)"
    # Tips cut back by a tenth of edges of two units, and usual roundings, stay below.
    limit = -math.inf, round(0.2 * outline.unit_mm, 3)
    yield between("read-back", part.hausdorff_mm, limit, "mm", what, part.shadow.boundary)
    yield _shape(one)
    if profile.faces != "none":
        yield _letter("letter", one.letter, one)
    if profile.faces == "both":
        yield _letter("letter-back", one.back, one)


def _shape(one: ReadPart) -> Finding:
    part, piece, alike = one.part, one.piece, " and ".join(one.alike)
    if found := unsure("shape", part, alike or "one shape"):
        return found
    shaped = ("the mirror image of " if one.mirrored else "") + alike
    message = f"it has the outline of {shaped or 'no piece of the set'}"
    if piece and piece not in one.alike:
        message = f"it is engraved {piece}, but{message[2:]}"
    elif one.mirrored:
        message = f"it is {shaped}"
    ok = one.as_drawn
    return Finding("shape", ok, None, None, "", message, None if ok else part.shadow.boundary)


def _letter(rule: str, letter: Letter | None, one: ReadPart) -> Finding:
    """What is to be said of the letter on one side, beside that there is one."""
    strange, face = one.strange if rule == "letter" else None, one.letter
    seen, ok = letter or strange, False
    if seen is None:
        message = "there is no letter that can be read"
    elif letter is None:
        message = f"the letter is {seen.text}, and no piece of the set has that"
    elif letter.mirrored:
        message = f"the letter {letter.text} is seen as in a mirror"
    else:
        ok, message = face is None or letter.text == face.text, f"the letter is {letter.text}"
        message += "" if ok or not face else f", and the one on the face is {face.text}"
    return Finding(rule, ok, seen.likeness if seen else None, None, "", message)


def set_findings(parts: Sequence[ReadPart], puzzle: PuzzleSet) -> list[Finding]:
    """Whether the parts are the whole set: nothing missing, nothing there twice or strange.

    A part that could not be told may be one that is missing.
    """
    ids, pieces = [piece.id for piece in puzzle.pieces], Counter(one.piece for one in parts)
    rules = {
        "missing": ("pieces of the set that are missing", [one for one in ids if not pieces[one]]),
        "twice": ("pieces that are there more than once", [one for one in ids if pieces[one] > 1]),
        "strange": (
            "parts that are no piece of the set",
            [one.key for one in parts if one.piece is None],
        ),
    }
    return [
        counted(rule, len(names), 0, f"{what} ({', '.join(names)})" if names else what)
        for rule, (what, names) in rules.items()
    ]


# --- letters --------------------------------------------------------------------------------


def read_letter(
    labels: Sequence[Cavity], texts: Sequence[str], turns: int, back: bool = False
) -> Letter | None:
    """Which of several texts is engraved on a part's face, or back as seen from there.

    Of cavities that are labels; the part may be turned in so many ways on its lattice. None when
    there is no letter, it is of another font, or two are equally near.
    """
    area = union_all([label.middle for label in labels if label.above != back])
    if area.is_empty:
        return None
    ways = list(product(dict.fromkeys(texts), range(turns), (False, True)))
    glyphs = np.array([_glyph(text, turn / turns, mirrored) for text, turn, mirrored in ways])
    seen = overlays(normal(affinity.scale(area, xfact=-1 if back else 1, origin=(0, 0))), glyphs)
    found = [Letter(text, alike, *way) for (text, *way), alike in zip(ways, seen, strict=True)]
    # Letters that are their own mirror image, or look the same when turned, are read straight.
    best = min(found, key=lambda one: (-round(one.likeness, 2), one.mirrored, one.turns))
    rival = max((one.likeness for one in found if one.text != best.text), default=0.0)
    return best if best.likeness >= max(_ALIKE, rival + _BETTER) else None


def turns_alike(text: str, turns: int) -> tuple[int, ...]:
    """Of all turns that a lattice has, those that leave a label looking the same.

    Example:
        >>> turns_alike("N", 4), turns_alike("A", 4)
        ((0, 2), (0,))
    """
    glyphs = np.array([_glyph(text, turn / turns, mirrored=False) for turn in range(turns)])
    alike = overlays(glyphs[0], glyphs)
    return tuple(turn for turn in range(turns) if turn == 0 or alike[turn] > 1 - _BETTER)


@lru_cache(maxsize=2048)
def _glyph(text: str, turn: float, mirrored: bool) -> BaseGeometry:
    """The font's letter at area 1, turned by a part of a full turn; empty if the font has none."""
    try:
        area = lettering(text).moved(0.0, 0.0, 1.0, mirrored).polygon()
    except BlueprintError:
        return Polygon()
    return normal(area, -2 * math.pi * turn)
