"""A set as its meshes show it: what they are, measured on them alone, and held against limits."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from statistics import median, mode

from fabkit.drawing.magnets import bores
from fabkit.mesh.balls.recognise import take_in_balls
from fabkit.mesh.balls.rules import height_on_bed_mm
from fabkit.mesh.boards.recognise import is_accessory, read_boards
from fabkit.mesh.boards.seating import pieces_in_board
from fabkit.mesh.body import Body
from fabkit.mesh.features import Features, circle_of, features
from fabkit.mesh.finding import Finding
from fabkit.mesh.fitting.assembly import Table, assemble, ball_table
from fabkit.mesh.identity import OnStubs, ReadPart, identify, numbered
from fabkit.mesh.inspect import inspect
from fabkit.mesh.laying import flat_lying
from fabkit.mesh.made import Made, made_to
from fabkit.mesh.part import FLAT, LENGTHS_MM, Balls, Part
from fabkit.mesh.recognise import take_in
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE, Common, usual_corners_mm
from fabkit.mesh.stubs import take_in_on_stubs
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
from fabkit.model.piece import Form, Piece, at_anchor, forms_of_balls, least_turn
from fabkit.model.polygon import rings_of_cells
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import Answered, Progress, answer_catalog, asked

#: The file, its ending, the object in it, and the number of a body that lay beside others.
_NAME = re.compile(r"(.*?(\.\w{1,4}))(?:: (.*?))?( \(\d+\))?")
#: The name of a profile that is none that was asked for, but what the pieces show themselves.
MEASURED = "measured"


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
    def flat(self) -> tuple[Part, ...]:
        """The parts that may be flat pieces."""
        return tuple(one.part for one in self.parts if one.features)

    @property
    def features(self) -> tuple[Features, ...]:
        """What is open in each of these."""
        return tuple(one.features for one in self.parts if one.features)

    @property
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
        return made_to(self.common, self.flat, self.features) if self.common else None

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
        return tuple(
            circle_of(recess.middle).diameter_mm for one in self.features for recess in one.recesses
        )

    def pieces(self) -> dict[str, Part]:
        """The part that is each piece, by the piece's id, those that were read."""
        return {
            one.key: one.part
            for one in self.parts
            if one.piece == one.key and (one.part.outline or one.part.balls)
        }

    @cached_property
    def as_read(self) -> PuzzleSet:
        """The set with the forms that meshes show, to be asked everything that it can be.

        Pieces that were not read, and those of balls that cannot lie flat, are left out.
        """
        lattice, found, parts = self.puzzle.lattice, list[Piece](), self.pieces()
        for piece in (one for one in self.puzzle.pieces if one.id in parts):
            part = parts[piece.id]
            if part.outline:
                # Turned to its least image: solutions do not depend on how a mesh lay.
                turn = least_turn(lattice, part.outline.cells)
                cells = at_anchor(lattice, map(turn, part.outline.cells))
                form = Form("", cells, rings_of_cells(lattice, cells))
                found.append(replace(piece, forms=(form,), tones=frozenset()))
            elif part.balls:
                with suppress(BallError):
                    forms = forms_of_balls(part.balls.shape)
                    found.append(replace(piece, forms=forms, body=part.balls.shape))
        return replace(self.puzzle, pieces=tuple(found), challenges=asked(self.puzzle))

    def inspect(self, profile: Profile, progress: Progress) -> tuple[ReadPart, ...]:
        """What every rule says of each part, in the set's order; then of boards and lids."""
        seated = self._seated(profile, progress)
        common = self.common and replace(self.common, measured=profile.name == MEASURED)
        order = {piece.id: number for number, piece in enumerate(self.puzzle.pieces)}
        parts = sorted(
            self.parts, key=lambda one: (order.get(one.piece or "", len(order)), one.key)
        )
        boards, found = [one.part for one in self.boards], list[ReadPart]()
        for one in (*parts, *self.boards):
            progress(len(found), len(parts) + len(boards), f"inspecting {one.key}")
            findings = inspect(one, boards, common, self.puzzle, profile)
            findings += [*seated[one.piece or ""], _file_name(one, self.puzzle)]
            found.append(replace(one, findings=tuple(findings)))
        return tuple(found)

    def _seated(self, profile: Profile, progress: Progress) -> dict[str, list[Finding]]:
        """What the rules of seats say of each piece that goes into a board, by the piece's id."""
        found = defaultdict[str, list[Finding]](list)
        known = {piece.id for piece in self.as_read.pieces}
        for board in (one.part for one in self.boards if one.part.kind in (HOLES, SEATS)):
            pieces = {
                one.key: one.stubs or one.part
                for one in self.parts
                if one.key in known and (one.stubs if board.kind == SEATS else one.part.balls)
            }
            told = pieces_in_board(pieces, board, self.puzzle.lattice, profile, progress)
            for name, some in told.items():
                found[name] += some
        return found

    def limits(self, profile: Profile) -> Profile:
        """What a profile asks of the set's pieces, but for the gaps that cells' own shapes leave."""
        limits = as_printed(self.puzzle, profile)
        is_open = keeps_own_gaps(self.puzzle, profile)
        return replace(limits, gap_max_mm=profile.unit_mm) if is_open else limits

    def together(self) -> list[Finding]:
        """The files' unit of length, and the clearance that flat pieces leave each other."""
        name = next(name for name, mm in LENGTHS_MM.items() if mm == self.length_mm)
        message = f"lengths in the files are in {name}"
        if name != "mm":
            message += "; slicers take them for mm: scale the files"
        found = [Finding("lengths", name == "mm", self.length_mm, 1.0, "mm", message)]
        if self.common:
            gap_mm, least_mm = 2 * self.common.inset_mm, 0.01  # less is none
            message = f"the clearance between two parts is {round(gap_mm, 3) + 0.0:.3f} mm"
            if gap_mm <= least_mm:
                message += ": these parts have none, and will not go together once printed"
            found.append(Finding("clearance", gap_mm > least_mm, gap_mm, least_mm, "mm", message))
        return found

    def answer(
        self,
        profile: Profile,
        budget_s: float | None,
        progress: Progress,
        known: Sequence[Answered] | None = None,
    ) -> list[Answered]:
        """The catalog's challenges solved, each in `budget_s`, where answers are not `known`; and put
        together from meshes, with the gaps that a profile asks for, where they are not yet.

        Those with pieces that are not as drawn are solved with these as drawn, too.
        """
        if known is None:
            known = answer_catalog(self.as_read, budget_s, progress)
            other = {one.piece for one in self.parts if one.piece and not one.as_drawn}
            twice = [a.challenge for a in known if not a.missing and other & {*a.challenge.pieces}]
            unclaimed = replace(self.puzzle, challenges=tuple(c for c in twice if not c.answer))
            again = answer_catalog(unclaimed, budget_s, progress)
            drawn = {c.id: c.answer for c in twice} | {a.challenge.id: a.status for a in again}
            known = [replace(one, drawn=drawn.get(one.challenge.id, "")) for one in known]
        found, pieces, lattice = list(known), self.pieces(), self.puzzle.lattice
        flat = {key: [flat_lying(key, one, lattice)] for key, one in pieces.items() if one.outline}
        holes = [(one.part, one.part.board) for one in self.boards if one.part.kind == HOLES]
        for at, one in enumerate(found):
            if one.layout and not one.assembly:
                progress(at, len(found), f"assembling {one.challenge.id}")
                on: Table = flat, None
                region = one.challenge.region
                if self.balls:
                    around = (part for part, board in holes if board and region <= board.cells)
                    on = ball_table(pieces, next(around, None), profile)
                assembly = assemble(one.challenge, one.layout, profile, on)
                found[at] = replace(one, assembly=assembly)
        return found


def _file_name(one: ReadPart, puzzle: PuzzleSet) -> Finding:
    """Whether a file that is named like a part of the set holds that part, if it was recognised."""
    stem = stem_of(one.name)
    named = {board.id + end for board in puzzle.boards for end in ("", LID_ENDING)} & {stem}
    named |= {
        piece.id
        for piece in puzzle.pieces
        if stem.casefold() in (piece.id.casefold(), piece.label.casefold())
        and not stem.isdigit()  # which may as well be the files' own numbers
    }
    held = {one.piece, *(() if one.letter else one.alike)}
    ok = not (one.piece or one.part.board) or not named or bool(named & held)
    message = "the file's name does not contradict what it holds"
    message = message if ok else f"the file is named {stem}, and holds {one.piece or one.key}"
    return Finding("file-name", ok, None, None, "", message)


def stem_of(name: str) -> str:
    """What a body is called: as an object in its file, else as the file; empty for one of several.

    Example:
        >>> [stem_of(one) for one in ("A.stl", "plate.3mf: B", "all.stl (2)", "C")]
        ['A', 'B', '', 'C']
    """
    if (found := _NAME.fullmatch(name)) is None:
        return name
    file, _, inside, apart = found.groups()
    return PurePath(inside or ("" if apart else file)).stem


# --- taking in ------------------------------------------------------------------------------


def take(bodies: Sequence[Body], puzzle: PuzzleSet, *units_mm: float) -> Taken:
    """Reads meshes back: bodies of some files, in any order, as the parts of a set.

    One that holds parts apart is taken apart. The grid unit may be any of `units_mm`.
    """
    bodies = [part for body in bodies for part in separate(body)]
    copies = _copies(bodies)
    bodies = [body for body in bodies if body not in copies]
    # The order of files must not show in any result, not even in rounding.
    bodies.sort(key=lambda body: (len(body.faces), len(body.vertices), body.name))
    # Pieces tell the files' unit of length. Boards do not, and what is taken for one depends on it.
    # When they agree in none, it is mm.
    for boards_mm in (*LENGTHS_MM.values(), 1.0) if puzzle.boards else (1.0,):
        parts, length_mm, stubs, large = _read(bodies, puzzle, units_mm, boards_mm)
        if length_mm == boards_mm and any(part.outline or part.balls for part in parts):
            break
    found = [features(part) if part.kind == FLAT else None for part in parts]
    pieces = [
        replace(one, stubs=under)
        for one, under in zip(identify(parts, found, puzzle), stubs, strict=True)
    ]
    boards = read_boards(large, puzzle, *units_mm, length_mm=boards_mm)
    return Taken(
        puzzle,
        tuple(pieces),
        tuple(_named(boards, puzzle)),
        length_mm,
        tuple(body.name for body in copies),
    )


def _named(boards: Iterable[Part], puzzle: PuzzleSet) -> Iterator[ReadPart]:
    """Boards and lids with a name of their own, in the order of the set's boards."""
    order, numbers = [*puzzle.boards, None], Counter[str]()
    for part in sorted(boards, key=lambda one: (order.index(one.board), one.kind == LID)):
        ending = LID_ENDING if part.kind == LID else ""
        stem = part.board.id + ending if part.board else "unknown-board"
        key = numbered(stem, numbers, part.board is not None)
        yield ReadPart(part, key=key, alike=(stem,))


def _copies(bodies: Sequence[Body]) -> list[Body]:
    """Those that are copies, in another format, of the first one's."""
    names = [_NAME.fullmatch(body.name) for body in bodies]
    formats = [name[2].lower() if name else "" for name in names]
    firsts = [one for one, ending in zip(bodies, formats, strict=True) if ending == formats[0]]
    found = []
    for body, ending in zip(bodies, formats, strict=True):
        twins = (
            one
            for one in firsts
            if len(one.faces) == len(body.faces)
            and math.isclose(*(abs(signed_volume(o)) for o in (one, body)), rel_tol=1e-4)
        )
        if ending != formats[0] and (twin := next(twins, None)):
            firsts.remove(twin)
            found.append(body)
    return found


def _read(
    bodies: Sequence[Body], puzzle: PuzzleSet, units_mm: Sequence[float], length_mm: float
) -> tuple[Sequence[Part], float, Sequence[OnStubs | None], list[Body]]:
    """Pieces, their files' unit of length, what stands on stubs; and, in `length_mm`, large boards."""
    large = [one for one in bodies if is_accessory(one, puzzle, *units_mm, length_mm=length_mm)]
    small = [one for one in bodies if one not in large]
    if may_have_stubs(puzzle):
        return *take_in_on_stubs(small, puzzle, *units_mm), large
    reader = take_in_balls if puzzle.made_of_balls else take_in
    return *reader(small, puzzle, *units_mm), [None for _ in small], large


# --- with which profile they were made ------------------------------------------------------


def recognise(taken: Taken, candidates: Sequence[Profile]) -> Profile | None:
    """The first profile with which most parts may have been made; None when there is none."""
    return next((one for one in candidates if _agrees(taken, as_printed(taken.puzzle, one))), None)


def _agrees(taken: Taken, profile: Profile) -> bool:
    """Whether most parts show what a profile makes: clearance, thickness, recesses and marks; or
    balls and links, less what the flat on the bed cuts off."""
    recesses = [recess for one in taken.features for recess in one.recesses]
    balls_mm = [mm for one in taken.balls for mm in one.diameters_mm]
    links_mm = [mm for one in taken.balls for mm in one.links_mm]
    if balls_mm and links_mm:
        unit_mm, link_mm = median(one.pitch_mm for one in taken.balls), median(links_mm)
        widths_mm = profile.link_mm, height_on_bed_mm(profile)
        measures = [
            (median(balls_mm), profile.ball_mm, TOLERANCE_MM),
            (link_mm, min(widths_mm, key=lambda mm: abs(link_mm - mm)), TOLERANCE_MM),
        ]
    elif (common := taken.common) and bool(recesses) == profile.has_recesses:
        unit_mm, is_open = common.unit_mm, keeps_own_gaps(taken.puzzle, profile)
        measures = [
            (common.inset_mm, common.inset_mm if is_open else profile.inset_mm, 0.01),
            (common.thickness_mm, profile.thickness_mm, TOLERANCE_MM),
        ]
        if recesses:
            measures.append((median(taken.bores_mm), bores(profile).widest_mm, TOLERANCE_MM / 2))
            closed = sum(not one.below and not one.above for one in recesses)
            marks = sum(len(one.marks) for one in taken.features)
            # Where poles alternate half the magnets are marked.
            alternates = 4 * marks <= len(recesses) or profile.polarity == "alternating"
            if (2 * closed > len(recesses)) != profile.embedded or not alternates:
                return False
    else:
        return False
    measures.append((unit_mm / profile.unit_mm, 1.0, UNIT_TOLERANCE))
    return all(abs(measured - asked) < off for measured, asked, off in measures)
