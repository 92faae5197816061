"""Which piece of a set each part is: by its letter, by its outline, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fabkit.mesh.features import Features
from fabkit.mesh.finding import Finding, at_most, counted
from fabkit.mesh.letters import ALPHABET, Letter, read_letter
from fabkit.mesh.part import Part
from fabkit.model.lattice import Cell, Lattice
from fabkit.model.piece import Piece, at_anchor, orientations
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: An outline counts as read when it is nowhere farther off than this part of a grid unit: tips
#: cut back by a tenth of edges of two units and usual roundings stay below. (Which piece it is
#: can be told beyond that.)
_OFF_UNITS = 0.2
#: It is told which piece a part is when its overlay is better than any other piece's by this.
_SURE = 0.005


@dataclass(frozen=True)
class Identity:
    """What a part is.

    Attributes:
        key: its name in reports: the piece's id, with a number behind it for a second one; or
            ``unknown-1``.
        piece: the id of the piece that it is, or None.
        letter: the engraved letter, if one was read.
        alike: the ids of the pieces that have its outline.
        mirrored: whether they have it only when turned over.
        strange: the engraved letter, if it is one that no piece has.
        back: the letter on the back, if one was read.
    """

    key: str
    piece: str | None
    letter: Letter | None
    alike: tuple[str, ...]
    mirrored: bool
    strange: Letter | None = None
    back: Letter | None = None

    @property
    def as_drawn(self) -> bool:
        """Whether it has the outline of its piece, as the set's file draws it."""
        return self.piece in self.alike and not self.mirrored

    @property
    def words(self) -> str:
        """Who it is, for people: ``A``, or ``same shape as E and R``."""
        if self.letter or len(self.alike) == 1 or not self.alike:
            return self.key
        return f"same shape as {' and '.join(self.alike)}"


def identify(
    parts: Sequence[Part], anatomies: Sequence[Features], puzzle: PuzzleSet
) -> list[Identity]:
    """Finds out which piece of the set each part is.

    The letter decides, since it is on the part itself; without one that can be read, the
    outline. Of several parts alike the order of their volumes decides, so that names do not
    depend on the order of files.

    Args:
        parts: in any order.
        anatomies: one for each.
        puzzle: the set.

    Returns:
        One identity for each part, with different keys.
    """
    lattice = puzzle.lattice
    images = {
        flips: [_images(lattice, piece, flips) for piece in puzzle.pieces]
        for flips in (False, True)
    }
    texts = [piece.label for piece in puzzle.pieces]
    turns = len(lattice.moves(False))
    found = []
    for part, anatomy in zip(parts, anatomies, strict=True):
        labels = anatomy.labels if part.outline else ()
        letter = read_letter(labels, texts, turns)
        strange = None if letter else read_letter(labels, ALPHABET, turns)
        back = read_letter(labels, texts, turns, back=True)
        cells = at_anchor(lattice, part.outline.cells) if part.outline else frozenset()
        alike, turned = (
            tuple(
                piece.id
                for piece, shown in zip(puzzle.pieces, images[flips], strict=True)
                if cells in shown
            )
            for flips in (False, True)
        )
        mirrored = bool(turned) and not alike
        found.append(Identity("", None, letter, alike or turned, mirrored, strange, back))
    return named(found, [_measure(part) for part in parts], puzzle)


def _images(lattice: Lattice, piece: Piece, flips: bool) -> set[frozenset[Cell]]:
    return {orientation.cells for orientation in orientations(lattice, piece, flips)}


def named(
    found: Sequence[Identity], measures: Sequence[tuple[float, ...]], puzzle: PuzzleSet
) -> list[Identity]:
    """Gives every part the piece that it is, and a key of its own.

    Args:
        found: what each part was found to be alike, and its letter.
        measures: of each part, by which those alike are told apart, whatever their order.
        puzzle: the set.

    Returns:
        The same with keys and pieces, in their order. The lettered ones choose first.
    """
    order = sorted(range(len(found)), key=lambda i: (measures[i], i))
    by_label: dict[str, list[str]] = {}
    for piece in puzzle.pieces:
        by_label.setdefault(piece.label, []).append(piece.id)
    taken: dict[str, int] = {}
    result = list(found)

    def name(i: int, piece: str | None) -> None:
        stem = piece or "unknown"
        taken[stem] = taken.get(stem, 0) + 1
        number = taken[stem]
        key = stem if piece and number == 1 else f"{stem}-{number}"
        result[i] = replace(found[i], key=key, piece=piece)

    lettered = [i for i in order if found[i].letter]
    for i in lettered:
        letter = found[i].letter
        assert letter is not None
        named_so = by_label[letter.text]  # several, where a set's pieces share a label
        shaped_so = [piece for piece in named_so if piece in found[i].alike] or named_so
        name(i, next((piece for piece in shaped_so if piece not in taken), shaped_so[0]))
    for i in [i for i in order if not found[i].letter]:
        free = [piece for piece in found[i].alike if piece not in taken]
        name(i, next(iter(free or found[i].alike), None))
    return result


def _measure(part: Part) -> tuple[float, float]:
    """What tells parts apart however they are turned, named or ordered."""
    return round(part.volume_mm3, 2), round(part.shadow.length, 2)


def identity_findings(part: Part, identity: Identity, profile: Profile) -> Iterator[Finding]:
    """What the outline and the letter say of a part: is it a piece of the set?"""
    outline = part.outline
    if outline is None:
        message = "its outline does not lie on the set's lattice"
        yield Finding("read-back", False, None, None, "mm", message, part.shadow.boundary)
        return
    what = f"how far the outline is off ({outline.area_off:+.1%} of its area)"
    limit_mm = round(_OFF_UNITS * outline.unit_mm, 3)
    yield at_most("read-back", outline.hausdorff_mm, limit_mm, "mm", what, part.shadow.boundary)
    yield _shape(part, identity)
    if profile.faces != "none":
        yield _letter("letter", identity.letter, identity)
    if profile.faces == "both":
        yield _letter("letter-back", identity.back, identity)


def _shape(part: Part, identity: Identity) -> Finding:
    piece = identity.piece
    ok = identity.as_drawn
    alike = " and ".join(identity.alike)
    if part.second and part.margin < _SURE:
        # Nothing that is measured on it would mean anything.
        other, score = part.second
        message = (
            f"it is as much like {alike or 'one shape'} ({part.score:.3f}) as like {other} "
            f"({score:.3f}): it cannot be told which it is"
        )
        return Finding("shape", False, part.margin, _SURE, "", message, part.shadow.boundary)
    if ok:
        message = f"it has the outline of {alike}"
    elif identity.mirrored and (piece in identity.alike or piece is None):
        message = f"it is the mirror image of {alike}"
    elif identity.alike:
        mirror = "the mirror image of " if identity.mirrored else ""
        message = f"it is engraved {piece}, but has the outline of {mirror}{alike}"
    elif piece:
        message = f"it is engraved {piece}, but has the outline of no piece of the set"
    else:
        message = "it has the outline of no piece of the set"
    return Finding("shape", ok, None, None, "", message, None if ok else part.shadow.boundary)


def _letter(rule: str, letter: Letter | None, identity: Identity) -> Finding:
    """What is to be said of the letter on one side, beside that there is one."""
    if letter is None:
        strange = identity.strange if rule == "letter" else None
        if strange is None:
            return Finding(rule, False, None, None, "", "there is no letter that can be read")
        message = f"the letter is {strange.text}, and no piece of the set has that"
        return Finding(rule, False, strange.likeness, None, "", message)
    ok, message = True, f"the letter is {letter.text}"
    if letter.mirrored:
        ok, message = False, f"the letter {letter.text} is seen as in a mirror"
    elif identity.letter is not None and letter.text != identity.letter.text:
        ok, message = False, f"{message}, and the one on the face is {identity.letter.text}"
    return Finding(rule, ok, letter.likeness, None, "", message)


def set_findings(identities: Sequence[Identity], puzzle: PuzzleSet) -> list[Finding]:
    """Whether the parts are the whole set: nothing missing, nothing there twice or strange.

    A part that could not be told may be one that is missing.
    """
    pieces = [identity.piece for identity in identities if identity.piece]
    missing = [piece.id for piece in puzzle.pieces if piece.id not in pieces]
    twice = sorted({piece for piece in pieces if pieces.count(piece) > 1})
    strange = [identity.key for identity in identities if identity.piece is None]
    found = []
    for rule, names, what in (
        ("missing", missing, "pieces of the set that are missing"),
        ("twice", twice, "pieces that are there more than once"),
        ("strange", strange, "parts that are no piece of the set"),
    ):
        named = f"{what} ({', '.join(names)})" if names else what
        found.append(counted(rule, len(names), 0, named))
    return found
