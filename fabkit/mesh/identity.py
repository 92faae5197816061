"""Identification of parts as pieces of a set, by letter, by outline or balls, or both."""

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
from fabkit.drawing.outline import DrawingError
from fabkit.mesh.cell_marks import PieceMarks, ScannedMark, compare_marks, separate_marks
from fabkit.mesh.features import Cavity, Features, FittedCircle
from fabkit.mesh.finding import DIGITS, Finding, check_limits, count_finding
from fabkit.mesh.lattice_fit import normalized, similarities
from fabkit.mesh.part import BALLS, FLAT, Part
from fabkit.model.piece import is_image
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile

#: A part is identified if its score leads the next best shape by this.
_SURE = 0.005
#: Letters that an engraving may show if it is no piece's label.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#: A letter is recognised if its overlap with the font's letter is at least this.
_ALIKE = 0.9
#: The overlap is larger by this than with any other letter. A rotation within it looks the same.
_BETTER = 0.02


@dataclass(frozen=True)
class Letter:
    """A recognised letter.

    Attributes:
        likeness: the overlap with the font's letter: 1 when they are the same.
        turns: quarter turns (sixths on those of hexagons and their parts), counter-clockwise, from the font's
            letter to this one.
    """

    text: str
    likeness: float
    turns: int
    mirrored: bool


@dataclass(frozen=True, eq=False)
class PeggedPart:
    """A part with pegs.

    Attributes:
        whole: the part with its pegs, their ends at height 0.
        plate: the part without them, its back at height 0.
        pegs: their circles at half height, in the part's frame, from left to right.
        height_mm: of the pegs.
    """

    whole: Part
    plate: Part
    pegs: tuple[FittedCircle, ...]
    height_mm: float


@dataclass(frozen=True, eq=False)
class ScannedPart:
    """A scanned part: what it is, and the findings on it.

    Attributes:
        part: without its `pegs`, if it has any.
        features: those besides its `marks`.
        marks: on its cells; `piece_marks` are these compared with those of its piece.
        key: its unique name in reports: the piece's id, numbered from the second one on; or
            ``unknown-1``.
        letter, back_letter: the letters on face and back, if recognised; `unknown_letter` is that
            on the face, if no piece has it.
        alike: the ids of the pieces with its outline, or its balls and links; `mirrored` if only
            their mirror images match.
    """

    part: Part
    features: Features | None = None
    marks: tuple[ScannedMark, ...] = ()
    piece_marks: PieceMarks = PieceMarks()  # noqa: RUF009 (it does not change)
    pegs: PeggedPart | None = None
    findings: tuple[Finding, ...] = ()
    key: str = ""
    piece: str | None = None
    letter: Letter | None = None
    alike: tuple[str, ...] = ()
    mirrored: bool = False
    unknown_letter: Letter | None = None
    back_letter: Letter | None = None

    @property
    def as_drawn(self) -> bool:
        """Whether it has the shape of its piece as drawn."""
        return self.piece in self.alike and not self.mirrored

    @property
    def plays_as_drawn(self) -> bool:
        """Whether it has both shape and marks of its piece as drawn."""
        return self.as_drawn and not self.piece_marks.wrong

    @property
    def name(self) -> str:
        """The name of its file."""
        return self.part.name

    @property
    def is_piece(self) -> bool:
        """Whether it may be a piece, not a board or lid."""
        return self.part.kind in (FLAT, BALLS)

    @property
    def description(self) -> str:
        """A description, such as ``A`` or ``same shape as E and R``."""
        if not self.is_piece:
            return self.part.kind or "not read"
        if self.letter or len(self.alike) < 2:
            return self.key
        return f"same shape as {' and '.join(self.alike)}"

    @property
    def failed(self) -> list[Finding]:
        """The failed findings."""
        return [finding for finding in self.findings if not finding.ok]

    def summary(self) -> dict[str, Any]:
        """Its identity and fit, for JSON."""
        part = self.part
        if not self.is_piece:
            board = part.board.id if part.board else None
            return {"file": self.name, "kind": part.kind or None, "board": board}
        summary: dict[str, Any] = {"file": self.name, "piece": self.piece, "is": self.description}
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
            return summary | {"read": False} | ({"why": part.reason} if part.reason else {})
        return summary | {"read": True, "as_drawn": self.as_drawn} | numbers

    def document(self) -> dict[str, Any]:
        """Its identity, fit, size and findings, for JSON."""
        return {
            "ok": not self.failed,
            **self.summary(),
            "watertight": all(finding.rule != "watertight" for finding in self.failed),
            "volume_mm3": round(self.part.volume_mm3, DIGITS),
            "bbox_mm": np.ptp(self.part.vertices, axis=0).round(DIGITS).tolist(),
            "findings": [finding.document() for finding in self.findings],
        }


def identify(
    parts: Sequence[Part], features: Sequence[Features | None], puzzle: PuzzleSet
) -> list[ScannedPart]:
    """Identify each part as a piece of the set, given its features (None for ball pieces).

    The letter decides, or else the outline or the balls. Parts with letters come first; equal parts
    are ordered by volume, so that names do not depend on the order of files. A part with the balls of
    a piece but other links is not `alike`.
    """
    pairs = zip(parts, features, strict=True)
    scanned = [_scanned_part(part, part_features, puzzle) for part, part_features in pairs]

    def first(i: int) -> tuple[object, ...]:
        """A sort key that does not depend on the rotation, name or order of parts."""
        around = parts[i].silhouette.length if parts[i].kind == FLAT else 0.0
        return not scanned[i].letter, round(parts[i].volume_mm3, 2), round(around, 2), i

    copies = {piece.id: piece.copies for piece in puzzle.pieces}
    used = Counter[str]()
    result = list(scanned)
    for i in sorted(range(len(parts)), key=first):
        alike, letter = scanned[i].alike, scanned[i].letter
        if letter:  # which several pieces may have
            lettered = [piece.id for piece in puzzle.pieces if piece.label == letter.text]
            alike = tuple(name for name in lettered if name in alike) or tuple(lettered)
        outline = parts[i].outline
        compared = dict[str, PieceMarks]()
        if outline and puzzle.marks:
            marks = scanned[i].marks
            compared = {
                piece.id: compare_marks(marks, outline, piece, puzzle)
                for piece in puzzle.select(alike)
            }
        alike = tuple(sorted(alike, key=lambda name: len(compared[name].wrong if compared else ())))
        unused = [name for name in alike if used[name] < copies[name]]
        piece = next(iter([*unused, *alike]), None)
        key = unique_key(piece or "unknown", used, piece is not None)
        balls = parts[i].balls
        alike = () if balls and not balls.as_linked else scanned[i].alike
        result[i] = replace(
            scanned[i],
            key=key,
            piece=piece,
            alike=alike,
            piece_marks=compared.get(piece or "", PieceMarks()),
        )
    return result


def unique_key(stem: str, used: Counter[str], is_known: bool) -> str:
    """A unique key: the stem, numbered unless it is known and the first."""
    used[stem] += 1
    return stem if is_known and used[stem] == 1 else f"{stem}-{used[stem]}"


def _scanned_part(part: Part, features: Features | None, puzzle: PuzzleSet) -> ScannedPart:
    """A part with its letters and matching pieces, not yet named."""
    if part.balls:
        return ScannedPart(part, alike=part.balls.alike, mirrored=part.balls.mirrored)
    if part.outline is None or features is None:
        return ScannedPart(part, features)
    lattice, pieces, cells = puzzle.lattice, puzzle.pieces, part.outline.cells
    texts = [piece.label for piece in pieces]
    features, marks = separate_marks(part, features, puzzle)
    read = partial(read_letter, features.labels, turns=len(lattice.moves(False)))
    letter = read(texts)
    unknown = None if letter else read(_ALPHABET)
    back = read(texts, back=True)
    scanned = ScannedPart(
        part, features, marks, letter=letter, unknown_letter=unknown, back_letter=back
    )
    for flips in (False, True):
        if alike := tuple(piece.id for piece in pieces if is_image(lattice, piece, cells, flips)):
            return replace(scanned, alike=alike, mirrored=flips)
    return scanned


def ambiguity_finding(rule: str, part: Part, what: str) -> Finding | None:
    """The failed finding on a part that matches two shapes equally well; None if it is unambiguous.

    Other measurements of such a part would be meaningless.
    """
    # One cell more or less is another board, however many it has.
    minimum_margin = min(_SURE, 0.5 / len(part.board.cells)) if part.board else _SURE
    if part.runner_up is None or part.margin >= minimum_margin:
        return None
    other, score = part.runner_up
    message = (
        f"it cannot be identified: {what} ({part.score:.3f}) and {other} ({score:.3f}) match equally "
        "well"
    )
    return Finding(rule, False, part.margin, minimum_margin, "", message, part.silhouette.boundary)


def identity_findings(scanned: ScannedPart, profile: Profile) -> Iterator[Finding]:
    """Findings on whether a part is a piece of the set, by outline and letter."""
    part, outline = scanned.part, scanned.part.outline
    if outline is None:
        message = "its outline is not on the set's lattice"
        yield Finding("read-back", False, None, None, "mm", message, part.silhouette.boundary)
        return
    what = f"the deviation of the outline from the lattice (area {part.area_off:+.1%})"
    # Tips cut back by a tenth of edges of two units, and usual roundings, stay below.
    deviation = part.hausdorff_mm, part.silhouette.boundary
    maximum_mm = round(0.2 * outline.unit_mm, 3)
    yield from check_limits("read-back", [deviation], maximum=maximum_mm, what=what)
    yield _shape(scanned)
    if profile.faces != "none":
        yield _letter("letter", scanned.letter, scanned)
    if profile.faces == "both":
        yield _letter("letter-back", scanned.back_letter, scanned)


def _shape(scanned: ScannedPart) -> Finding:
    part, piece, alike = scanned.part, scanned.piece, " and ".join(scanned.alike)
    if ambiguity := ambiguity_finding("shape", part, alike or "one shape"):
        return ambiguity
    shaped = ("the mirror image of " if scanned.mirrored else "") + alike
    message = f"it has the outline of {shaped or 'no piece of the set'}"
    if piece and piece not in scanned.alike:
        message = f"it is engraved {piece}, but{message[2:]}"
    elif scanned.mirrored:
        message = f"it is {shaped}"
    ok = scanned.as_drawn
    return Finding("shape", ok, None, None, "", message, None if ok else part.silhouette.boundary)


def _letter(rule: str, letter: Letter | None, scanned: ScannedPart) -> Finding:
    """The finding on which letter is on one side."""
    face = scanned.letter
    recognised = letter or (scanned.unknown_letter if rule == "letter" else None)
    ok = False
    if recognised is None:
        message = "no letter can be read"
    elif letter is None:
        message = f"the letter is {recognised.text}, which no piece of the set has"
    elif letter.mirrored:
        message = f"the letter {letter.text} is a mirror image"
    else:
        ok = face is None or letter.text == face.text
        message = f"the letter is {letter.text}"
        message += "" if ok or not face else f", but the one on the face is {face.text}"
    return Finding(rule, ok, recognised.likeness if recognised else None, None, "", message)


def set_findings(parts: Sequence[ScannedPart], puzzle: PuzzleSet) -> list[Finding]:
    """Findings on whether the parts are the whole set: no missing, duplicate or unknown parts.

    An unknown part may be one of those missing.
    """
    copies = {piece.id: piece.copies for piece in puzzle.pieces}
    pieces = Counter(part.piece for part in parts)
    unknown = [part.key for part in parts if part.piece is None]
    rules = (
        ("missing", "missing pieces", [name for name in copies if not pieces[name]]),
        ("duplicate", "duplicate pieces", [name for name in copies if pieces[name] > copies[name]]),
        ("unknown-part", "parts that are not in the set", unknown),
    )
    return [
        count_finding(rule, len(names), 0, f"{what} ({', '.join(names)})" if names else what)
        for rule, what, names in rules
    ]


# --- letters --------------------------------------------------------------------------------


def read_letter(
    labels: Sequence[Cavity], texts: Sequence[str], turns: int, back: bool = False
) -> Letter | None:
    """Recognise which of several texts is engraved on a part's face, or on its back.

    `labels` are its engraved cavities, `turns` the number of rotations of its lattice. None if there
    is no letter, it is in another font, or two texts match equally well.
    """
    area = union_all([label.middle for label in labels if label.above != back])
    return read_text(affinity.scale(area, xfact=-1 if back else 1, origin=(0, 0)), texts, turns)


def read_text(
    area: BaseGeometry, texts: Sequence[str], turns: int, mirrors: Sequence[bool] = (False, True)
) -> Letter | None:
    """Recognise which of several texts an area is, seen from the side on which it is engraved.

    Each text is compared in `turns` orientations, and those of `mirrors`; see `read_letter`.
    """
    if area.is_empty:
        return None
    variants = list(product(dict.fromkeys(texts), range(turns), mirrors))
    glyphs = np.array([_glyph(text, turn / turns, mirrored) for text, turn, mirrored in variants])
    likenesses = similarities(normalized(area), glyphs)
    letters = [
        Letter(text, alike, *variant)
        for (text, *variant), alike in zip(variants, likenesses, strict=True)
    ]
    # Letters that are their own mirror image, or look the same when turned, are read straight.
    best = min(letters, key=lambda read: (-round(read.likeness, 2), read.mirrored, read.turns))
    rival = max((read.likeness for read in letters if read.text != best.text), default=0.0)
    return best if best.likeness >= max(_ALIKE, rival + _BETTER) else None


def symmetry_turns(text: str, turns: int) -> tuple[int, ...]:
    """The rotations of a lattice, of `turns`, that leave a label looking the same.

    Example:
        >>> symmetry_turns("N", 4), symmetry_turns("A", 4)
        ((0, 2), (0,))
    """
    glyphs = np.array([_glyph(text, turn / turns, mirrored=False) for turn in range(turns)])
    alike = similarities(glyphs[0], glyphs)
    return tuple(turn for turn in range(turns) if turn == 0 or alike[turn] > 1 - _BETTER)


@lru_cache(maxsize=2048)
def _glyph(text: str, turn: float, mirrored: bool) -> BaseGeometry:
    """The font's letter at area 1, turned by a part of a full turn; empty if the font has none."""
    try:
        area = lettering(text).moved(0.0, 0.0, 1.0, mirrored).polygon()
    except DrawingError:
        return Polygon()
    return normalized(area, -2 * math.pi * turn)
