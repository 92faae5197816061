"""A set as its meshes show it: what they are, measured on them alone, and held against limits."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from statistics import median, mode
from typing import Any

from fabkit.drawing.magnets import bores
from fabkit.mesh.balls.recognise import take_in_balls
from fabkit.mesh.balls.rules import height_on_bed_mm
from fabkit.mesh.boards.recognise import is_accessory, read_boards
from fabkit.mesh.boards.seating import pieces_in_board
from fabkit.mesh.body import Body
from fabkit.mesh.features import Features, circle_of, features
from fabkit.mesh.finding import Finding
from fabkit.mesh.fitting.assembly import Table, ball_table
from fabkit.mesh.fitting.rows import Solution
from fabkit.mesh.fitting.tolerance import (
    PrinterError,
    Tolerance,
    board_stacks,
    clearance_of,
    tolerance,
)
from fabkit.mesh.identity import Identity, identify, numbered
from fabkit.mesh.inspect import ReadPart, inspect
from fabkit.mesh.laying import flat_lying
from fabkit.mesh.made import Made, made_to
from fabkit.mesh.part import FLAT, LENGTHS_MM, Balls, Part
from fabkit.mesh.recognise import take_in
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE, Common, usual_corners_mm
from fabkit.mesh.stubs import OnStubs, take_in_on_stubs
from fabkit.mesh.topology import separate, signed_volume
from fabkit.model.accessory import (
    HOLES,
    LID,
    LID_ENDING,
    SEATS,
    as_printed,
    keeps_own_gaps,
    may_have_stubs,
)
from fabkit.model.balls import BallError
from fabkit.model.piece import Piece, forms_of_balls
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import Answered, Progress, answer_all, canonical_form

#: A set whose parts are inset less than this (mm) has no clearance; insets this near are one.
_NO_CLEARANCE_MM, _SAME_INSET_MM = 0.005, 0.01
#: Where poles alternate half the magnets are marked; so many are few.
_MARKED_OF = 4
#: The file, the object in it, and the number of a body that lay beside others in one mesh.
_NAME = re.compile(r"(?P<file>.*?\.\w{1,4})(: (?P<object>.*?))?(?P<apart> \(\d+\))?")
#: The name of a profile that is none that was asked for, but what the pieces show themselves.
MEASURED = "measured"
#: Volumes of one piece in files of two formats differ by no more than this part.
_SAME_VOLUME = 1e-4


@dataclass(frozen=True, eq=False)
class Taken:
    """The parts of a set as their meshes show them.

    Attributes:
        parts: those that may be pieces.
        boards: boards and lids, in the order of the set's.
        length_mm: the files' unit of length.
        copies: names of bodies left out, being there in a file of another format as well.
    """

    puzzle: PuzzleSet
    parts: tuple[ReadPart, ...]
    boards: tuple[ReadPart, ...]
    length_mm: float
    copies: tuple[str, ...] = ()

    @property
    def identities(self) -> tuple[Identity, ...]:
        """Which piece each part is."""
        return tuple(one.identity for one in self.parts)

    @cached_property
    def flat(self) -> tuple[Part, ...]:
        """The parts that may be flat pieces."""
        return tuple(one.part for one in self.parts if one.part.kind == FLAT)

    @cached_property
    def features(self) -> tuple[Features, ...]:
        """What is open in each flat piece."""
        return tuple(one.features for one in self.parts if one.features)

    @cached_property
    def balls(self) -> tuple[Balls, ...]:
        """What was read of pieces of balls."""
        return tuple(one.part.balls for one in self.parts if one.part.balls)

    @cached_property
    def common(self) -> Common | None:
        """What flat pieces have in common; None when none of them could be read."""
        outlines = [part.outline for part in self.flat if part.outline]
        if not outlines:
            return None
        return Common(
            unit_mm=median(outline.unit_mm for outline in outlines),
            inset_mm=median(outline.inset_mm for outline in outlines),
            thickness_mm=median(part.thickness_mm for part in self.flat),
            corners_mm=usual_corners_mm(self.flat),
            recesses=mode(len(one.recesses) for one in self.features),
        )

    @cached_property
    def made(self) -> Made | None:
        """What flat pieces are made to, as most of them show; None when none could be read."""
        return made_to(self.flat, self.features)

    def agrees_with(self, unit_mm: float) -> bool:
        """Whether all parts were recognised, and are pieces and boards of this grid unit."""
        known = all(one.piece for one in self.parts) and all(one.part.board for one in self.boards)
        units = [self.common.unit_mm] if self.common else [one.pitch_mm for one in self.balls]
        return known and all(abs(one / unit_mm - 1) < UNIT_TOLERANCE for one in units)

    def shown(self, usual: Profile) -> Profile:
        """The profile that the parts show themselves, called `MEASURED`; the usual otherwise."""
        if self.made is None:
            return usual
        has_lids = any(one.part.kind == LID for one in self.boards)
        return replace(self.made.profile(usual), lid=usual.lid if has_lids else "none")

    @cached_property
    def bores_mm(self) -> tuple[float, ...]:
        """The diameters of all recesses."""
        recesses = itertools.chain(*(one.recesses for one in self.features))
        return tuple(circle_of(recess.middle).diameter_mm for recess in recesses)

    def pieces(self) -> dict[str, Part]:
        """The part that is each piece, by the piece's id, those that were read."""
        return {
            one.key: one.part
            for one in self.parts
            if one.piece == one.key and (one.part.outline or one.part.balls)
        }

    def read_pieces(self) -> dict[str, Piece]:
        """The pieces as they were read, with the forms that their meshes show, by id.

        Pieces of balls that cannot lie flat are left out.
        """
        found = {}
        for name, part in self.pieces().items():
            piece = self.puzzle.piece(name)
            if part.outline:
                form = canonical_form(self.puzzle.lattice, part.outline.cells)
                found[name] = replace(piece, forms=(form,), tones=frozenset())
            elif part.balls:
                try:
                    forms = forms_of_balls(part.balls.shape)
                except BallError:
                    continue
                found[name] = replace(piece, forms=forms, body=part.balls.shape)
        return found

    def inspect(self, profile: Profile, progress: Progress) -> tuple[ReadPart, ...]:
        """What every rule says of each part, in the set's order; then of boards and lids."""
        seated, limits = self._seated(profile, progress), self._with_own_gaps(profile)
        common = self.common and replace(self.common, measured=profile.name == MEASURED)
        order = {piece.id: number for number, piece in enumerate(self.puzzle.pieces)}
        parts = sorted(
            self.parts, key=lambda one: (order.get(one.piece or "", len(order)), one.key)
        )
        boards, found = [one.part for one in self.boards], list[ReadPart]()
        for one in (*parts, *self.boards):
            progress(len(found), len(parts) + len(boards), f"inspecting {one.key}")
            findings = inspect(one, boards, common, self.puzzle, limits)
            findings += seated.get(one.piece or "", [])
            findings.append(_file_name(one, self.puzzle))
            found.append(replace(one, findings=tuple(findings)))
        return tuple(found)

    def _seated(self, profile: Profile, progress: Progress) -> dict[str, list[Finding]]:
        """What the rules of seats say of each piece that goes into a board, by the piece's id."""
        found: dict[str, list[Finding]] = {}
        pieces: Mapping[str, Any]
        for board in (one.part for one in self.boards):
            if board.kind == SEATS:
                pieces = {
                    one.key: one.stubs
                    for one in self.parts
                    if one.stubs and one.stubs.whole.outline and one.piece == one.key
                }
            elif board.kind == HOLES and self.balls:
                known = self.read_pieces()
                pieces = {name: part for name, part in self.pieces().items() if name in known}
            else:
                continue
            told = pieces_in_board(pieces, board, self.puzzle.lattice, profile, progress)
            for name, some in told.items():
                found.setdefault(name, []).extend(some)
        return found

    def _with_own_gaps(self, profile: Profile) -> Profile:
        """The limits, but for the gaps that the cells' own shapes leave."""
        is_open = bool(self.flat) and keeps_own_gaps(self.puzzle, profile)
        return replace(profile, gap_max_mm=profile.unit_mm) if is_open else profile

    def together(self) -> list[Finding]:
        """The files' unit of length, and the clearance that flat pieces leave each other."""
        name = next(name for name, mm in LENGTHS_MM.items() if mm == self.length_mm)
        message = f"lengths in the files are in {name}"
        if name != "mm":
            message += "; slicers take them for mm: scale the files"
        found = [Finding("lengths", name == "mm", self.length_mm, 1.0, "mm", message)]
        if self.common is None:
            return found
        inset_mm = self.common.inset_mm
        ok = inset_mm > _NO_CLEARANCE_MM
        message = f"the clearance between two parts is {round(2 * inset_mm, 3) + 0.0:.3f} mm"
        if not ok:
            message += ": these parts have none, and will not go together once printed"
        clearance = Finding("clearance", ok, 2 * inset_mm, 2 * _NO_CLEARANCE_MM, "mm", message)
        return [*found, clearance]

    def answer(
        self,
        profile: Profile,
        budget_s: float | None,
        progress: Progress,
        known: Sequence[Answered] | None = None,
    ) -> list[Answered]:
        """The catalog's challenges solved, where that is not known, and put together from meshes.

        Args:
            profile: what is asked for of gaps.
            budget_s: for solving each challenge.
            progress: told before each.
            known: the answers, with or without an assembly.
        """
        if known is None:
            read = self.read_pieces()
            known = answer_all(self.puzzle, read, self.identities, budget_s, progress)
        found, pieces = list(known), self.pieces()
        todo = [at for at, one in enumerate(found) if one.layout and not one.assembly]
        holes = [one.part for one in self.boards if one.part.kind == HOLES]
        flat = {
            key: [flat_lying(key, part, self.puzzle.lattice)]
            for key, part in pieces.items()
            if part.outline
        }
        on = Table(flat, self._with_own_gaps(profile))
        for done, at in enumerate(todo):
            challenge = found[at].challenge
            progress(done, len(todo), f"assembling {challenge.id}")
            if self.balls:
                around = (one for one in holes if one.board and challenge.region <= one.board.cells)
                on = ball_table(pieces, next(around, None), profile)
            assembly = on.assemble(challenge.id, challenge.region, found[at].layout)
            found[at] = replace(found[at], assembly=assembly)
        return found

    def tolerance(
        self, answers: Sequence[Answered], profile: Profile, error: PrinterError
    ) -> Tolerance:
        """Whether rows close, and pieces go into their board, as a printer prints them.

        Each ball has its own hole, so errors of balls do not add up along rows.
        """
        lattice, boards = self.puzzle.lattice, [one.part for one in self.boards]
        solved = [
            Solution(one.id, one.region, layout, clearance_of(one.region, boards, lattice))
            for one, layout in ((answer.challenge, answer.layout) for answer in answers)
            if layout and self.flat
        ]
        stubs = itertools.chain(*(one.stubs.stubs for one in self.parts if one.stubs))
        widths_mm = (
            [mm for one in self.balls for mm in one.diameters_mm],
            [mm for one in self.balls for mm in one.links_mm if not math.isnan(mm)],
            [stub.diameter_mm for stub in stubs],
        )
        widest_mm = [max(some, default=0.0) for some in widths_mm]
        seats = [s for board in boards for s in board_stacks(board, lattice, error, *widest_mm)]
        bores_mm = () if profile.fit == "ribs" else self.bores_mm  # ribs are there to be crushed
        magnet_mm = profile.magnet_diameter_mm if self.flat else 0.0
        pieces = self.pieces() if self.flat else {}
        return tolerance(pieces, lattice, solved, error, magnet_mm, bores_mm, boards=seats)


def _file_name(one: ReadPart, puzzle: PuzzleSet) -> Finding:
    """Whether a file that is named like a part of the set holds that part."""
    stem, identity = stem_of(one.name), one.identity
    boards = {board.id + end for board in puzzle.boards for end in ("", LID_ENDING)} & {stem}
    pieces = {
        piece.id
        for piece in puzzle.pieces
        if stem.casefold() in (piece.id.casefold(), piece.label.casefold())
        and not stem.isdigit()  # which may as well be the files' own numbers
    }
    if one.is_piece:
        held = identity.piece or "no piece of the set"
        alike = {identity.piece} if identity.letter else {*identity.alike, identity.piece}
        ok = not identity.piece or not (boards or (pieces and not pieces & alike))
    else:
        (held,) = identity.alike
        ok = not pieces and (not one.part.board or not boards or stem == held)
    message = f"the file is named {stem}, and holds {held}"
    if ok:
        message = "the file's name does not contradict what it holds"
    return Finding("file-name", ok, None, None, "", message)


def stem_of(name: str) -> str:
    """What a body is called: as an object in its file, else as the file; empty for one of several.

    Example:
        >>> [stem_of(one) for one in ("A.stl", "plate.3mf: B", "all.stl (2)", "C")]
        ['A', 'B', '', 'C']
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return name
    if found["object"]:
        return PurePath(found["object"]).stem
    return "" if found["apart"] else PurePath(found["file"]).stem


# --- taking in ------------------------------------------------------------------------------


def take(bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float) -> Taken:
    """Reads meshes back: bodies of some files, in any order, as the parts of a set.

    One that holds parts apart is taken apart. The grid unit may be any of `units_mm`; see
    `fabkit.mesh.recognise.take_in`.
    """
    bodies, copies = _without_copies([part for body in bodies for part in separate(body)])
    # The order of files must not show in any result, not even in rounding.
    ordered = sorted(bodies, key=lambda body: (len(body.faces), len(body.vertices), body.name))
    parts, length_mm, stubs, large = _read(ordered, puzzle, units_mm, 1.0)
    # Pieces tell the files' unit of length. Boards do not, and what is taken for one depends on it.
    told = [length_mm] if _tell(parts) else list(LENGTHS_MM.values())
    boards_mm = 1.0
    for other_mm in told if puzzle.boards and told != [1.0] else ():
        again = _read(ordered, puzzle, units_mm, other_mm)
        if again[1] == other_mm and _tell(again[0]):
            parts, length_mm, stubs, large = again
            boards_mm = other_mm
            break
    found = [features(part) if part.kind == FLAT else None for part in parts]
    pieces = map(ReadPart, parts, identify(parts, found, puzzle), found, stubs)
    boards = read_boards(large, puzzle, *units_mm, length_mm=boards_mm)
    return Taken(puzzle, tuple(pieces), tuple(_named(boards, puzzle)), length_mm, tuple(copies))


def _tell(parts: Iterable[Part]) -> bool:
    """Whether any piece was read, which tells the unit of length."""
    return any(part.outline or part.balls for part in parts)


def _named(boards: Iterable[Part], puzzle: PuzzleSet) -> list[ReadPart]:
    """Boards and lids with a name of their own, in the order of the set's boards."""
    numbers, found = Counter[str](), []

    def place(part: Part) -> tuple[int, bool]:
        known = puzzle.boards.index(part.board) if part.board else len(puzzle.boards)
        return known, part.kind == LID

    for part in sorted(boards, key=place):
        ending = LID_ENDING if part.kind == LID else ""
        stem = part.board.id + ending if part.board else "unknown-board"
        key = numbered(stem, numbers, part.board is not None)
        found.append(ReadPart(part, Identity(key, alike=(stem,))))
    return found


def _without_copies(bodies: Sequence[Body]) -> tuple[list[Body], list[str]]:
    """Bodies that are no copies, in another format, of the first one's; and the others' names."""
    formats: dict[str, list[Body]] = {}
    for body in bodies:
        name = _NAME.fullmatch(body.name)
        ending = PurePath(name["file"]).suffix.lower() if name else ""
        formats.setdefault(ending, []).append(body)
    kept, *others = formats.values() or [[]]
    sizes = [(len(body.faces), abs(signed_volume(body))) for body in kept] if others else []
    copies = []
    for body in itertools.chain(*others):
        faces, volume = len(body.faces), abs(signed_volume(body))
        near = _SAME_VOLUME * volume
        twins = [one for one in sizes if one[0] == faces and abs(one[1] - volume) <= near]
        if twins:
            sizes.remove(twins[0])
            copies.append(body.name)
        else:
            kept.append(body)
    return kept, copies


def _read(
    bodies: Sequence[Body], puzzle: PuzzleSet, units_mm: Sequence[float], length_mm: float
) -> tuple[Sequence[Part], float, Sequence[OnStubs | None], list[Body]]:
    """Pieces, not yet named, their files' unit of length, and what is so large (with the unit of
    length that is given) that it is a board."""
    large = [one for one in bodies if is_accessory(one, puzzle, *units_mm, length_mm=length_mm)]
    small = [one for one in bodies if one not in large]
    if may_have_stubs(puzzle):
        return *take_in_on_stubs(small, puzzle, *units_mm), large
    reader = take_in_balls if puzzle.made_of_balls else take_in
    return *reader(small, puzzle, *units_mm), [None for _ in small], large


# --- with which profile they were made ------------------------------------------------------


def recognise(taken: Taken, candidates: Sequence[Profile]) -> Profile | None:
    """The first profile with which most parts may have been made; None when there is none."""
    agrees = _balls_agree if taken.puzzle.made_of_balls else _agrees
    return next((one for one in candidates if agrees(taken, as_printed(taken.puzzle, one))), None)


def _agrees(taken: Taken, profile: Profile) -> bool:
    """Whether most parts show a profile's recesses, marks, unit, clearance and thickness."""
    common, known = taken.common, [one.features for one in taken.parts if one.piece]
    recesses = [recess for one in known if one for recess in one.recesses]
    marks = sum(len(one.marks) for one in taken.features)
    closed = sum(not recess.below and not recess.above for recess in recesses)
    if (
        common is None
        or bool(recesses) != profile.has_recesses
        or (2 * closed > len(recesses)) != (profile.embedded and bool(recesses))
        or (recesses and _MARKED_OF * marks > len(recesses) and profile.polarity != "alternating")
    ):
        return False
    inset_mm = common.inset_mm if keeps_own_gaps(taken.puzzle, profile) else profile.inset_mm
    bore_mm = bores(profile).widest_mm if recesses else 0.0
    return _near(
        (common.unit_mm / profile.unit_mm, 1.0, UNIT_TOLERANCE),
        (common.inset_mm, inset_mm, _SAME_INSET_MM),
        (common.thickness_mm, profile.thickness_mm, TOLERANCE_MM),
        (median(taken.bores_mm) if recesses else 0.0, bore_mm, TOLERANCE_MM / 2),
    )


def _balls_agree(taken: Taken, profile: Profile) -> bool:
    """Whether most parts show a profile's pitch, balls and links (less what the flat cuts off)."""
    balls = [diameter for one in taken.balls for diameter in one.diameters_mm]
    links = [diameter for one in taken.balls for diameter in one.links_mm]
    if not balls or not links:
        return False
    pitch_mm, link_mm = median(one.pitch_mm for one in taken.balls), median(links)
    asked_mm = min(profile.link_mm, height_on_bed_mm(profile), key=lambda mm: abs(link_mm - mm))
    return _near(
        (pitch_mm / profile.unit_mm, 1.0, UNIT_TOLERANCE),
        (median(balls), profile.ball_mm, TOLERANCE_MM),
        (link_mm, asked_mm, TOLERANCE_MM),
    )


def _near(*measures: tuple[float, float, float]) -> bool:
    """Whether each measure is what is asked for, to its tolerance."""
    return all(abs(measured - asked) < tolerance for measured, asked, tolerance in measures)
