"""Scanned sets: meshes identified as parts of a set, measured, and checked against limits."""

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

from fabkit.core.progress import Progress
from fabkit.drawing.magnets import recess_diameters
from fabkit.mesh.ball_fit import fit_ball_pieces
from fabkit.mesh.board_fit import fit_boards, is_board_sized
from fabkit.mesh.features import Features, find_features, fit_circle
from fabkit.mesh.finding import Finding
from fabkit.mesh.fitting.assembly import BallSetup, assemble, ball_setup
from fabkit.mesh.identity import PeggedPart, ScannedPart, identify, unique_key
from fabkit.mesh.inspect import inspect
from fabkit.mesh.lattice_fit import fit_flat_pieces
from fabkit.mesh.measured_sizes import MeasuredSizes, measure_sizes
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.part import FLAT, LENGTH_UNITS_MM, Balls, Part
from fabkit.mesh.pegs import fit_pieces_on_pegs
from fabkit.mesh.placement import flat_piece
from fabkit.mesh.rules.ball import height_on_bed_mm
from fabkit.mesh.rules.insertion import insertion_findings
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE, CommonSizes, typical_corners_mm
from fabkit.mesh.topology import signed_volume, split_components
from fabkit.model.accessory import (
    HOLES,
    LID,
    LID_SUFFIX,
    SOCKETS,
    cells_leave_gaps,
    may_have_pegs,
    profile_as_made,
)
from fabkit.model.balls import BallError
from fabkit.model.piece import Form, Piece, canonical_turn, forms_of_balls, normalize_cells
from fabkit.model.polygon import rings_of_cells
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.challenge_results import ChallengeResult, challenges_to_solve, solve_catalog

#: The file, its suffix, the object in it, and the number of a mesh that was split off.
_NAME = re.compile(r"(.*?(\.\w{1,4}))(?:: (.*?))?( \(\d+\))?")
#: The name of the profile that is measured on the pieces themselves.
MEASURED = "measured"


@dataclass(frozen=True, eq=False)
class ScannedSet:
    """The parts of a set, scanned from meshes.

    Attributes:
        parts: those that may be pieces.
        boards: boards and lids, in the order of the set's boards.
        length_mm: the files' unit of length.
        copies: names of meshes that are ignored because a file of another format has them, too.
    """

    puzzle: PuzzleSet
    parts: tuple[ScannedPart, ...]
    boards: tuple[ScannedPart, ...]
    length_mm: float
    copies: tuple[str, ...] = ()

    @property
    def flat(self) -> tuple[Part, ...]:
        """The parts that may be flat pieces."""
        return tuple(one.part for one in self.parts if one.features)

    @property
    def features(self) -> tuple[Features, ...]:
        """The features of each of these."""
        return tuple(one.features for one in self.parts if one.features)

    @property
    def balls(self) -> tuple[Balls, ...]:
        """The fitted balls of ball pieces."""
        return tuple(one.part.balls for one in self.parts if one.part.balls)

    @cached_property
    def common(self) -> CommonSizes | None:
        """The sizes that flat pieces share; None if none could be fitted."""
        outlines = [part.outline for part in self.flat if part.outline]
        if not outlines:
            return None
        return CommonSizes(
            unit_mm=median(outline.unit_mm for outline in outlines),
            inset_mm=median(outline.inset_mm for outline in outlines),
            thickness_mm=median(part.thickness_mm for part in self.flat),
            corners_mm=typical_corners_mm(self.flat),
            recesses=mode(len(one.recesses) for one in self.features),
        )

    @cached_property
    def sizes(self) -> MeasuredSizes | None:
        """The sizes of most flat pieces; None if none could be fitted."""
        return measure_sizes(self.common, self.flat, self.features) if self.common else None

    def agrees_with(self, unit_mm: float) -> bool:
        """Whether all parts were identified, and are pieces and boards of this grid unit."""
        known = all(one.piece for one in self.parts) and all(one.part.board for one in self.boards)
        units = [self.common.unit_mm] if self.common else [one.pitch_mm for one in self.balls]
        return known and all(abs(one / unit_mm - 1) < UNIT_TOLERANCE for one in units)

    def measured_profile(self, usual: Profile) -> Profile:
        """The profile measured on the parts, called `MEASURED`; `usual` if nothing could be measured."""
        if self.sizes is None:
            return usual
        has_lids = any(one.part.kind == LID for one in self.boards)
        return replace(self.sizes.profile(usual), lid=usual.lid if has_lids else "none")

    @cached_property
    def recesses_mm(self) -> tuple[float, ...]:
        """The diameters of all recesses."""
        return tuple(
            fit_circle(recess.middle).diameter_mm
            for one in self.features
            for recess in one.recesses
        )

    def pieces(self) -> dict[str, Part]:
        """The fitted part of each piece, by the piece's id."""
        return {
            one.key: one.part
            for one in self.parts
            if one.piece == one.key and (one.part.outline or one.part.balls)
        }

    @cached_property
    def as_scanned(self) -> PuzzleSet:
        """The set with the forms of the meshes in place of the drawn ones.

        Pieces that were not fitted, and ball pieces that cannot lie flat, are omitted.
        """
        lattice, found, parts = self.puzzle.lattice, list[Piece](), self.pieces()
        for piece in (one for one in self.puzzle.pieces if one.id in parts):
            part = parts[piece.id]
            if part.outline:
                # In its least image: solutions do not depend on the rotation of a mesh.
                turn = canonical_turn(lattice, part.outline.cells)
                cells = normalize_cells(lattice, map(turn, part.outline.cells))
                form = Form("", cells, rings_of_cells(lattice, cells))
                found.append(replace(piece, forms=(form,), tones=frozenset()))
            elif part.balls:
                with suppress(BallError):
                    forms = forms_of_balls(part.balls.shape)
                    found.append(replace(piece, forms=forms, body=part.balls.shape))
        return replace(
            self.puzzle, pieces=tuple(found), challenges=challenges_to_solve(self.puzzle)
        )

    def inspect(self, profile: Profile, progress: Progress) -> tuple[ScannedPart, ...]:
        """Check every part: pieces in the set's order, then boards and lids."""
        inserted = self._insertion_findings(profile, progress)
        common = self.common and replace(self.common, measured=profile.name == MEASURED)
        order = {piece.id: number for number, piece in enumerate(self.puzzle.pieces)}
        parts = sorted(
            self.parts, key=lambda one: (order.get(one.piece or "", len(order)), one.key)
        )
        boards, found = [one.part for one in self.boards], list[ScannedPart]()
        for one in (*parts, *self.boards):
            progress(len(found), len(parts) + len(boards), f"inspecting {one.key}")
            findings = inspect(one, boards, common, self.puzzle, profile)
            findings += [*inserted[one.piece or ""], _file_name_finding(one, self.puzzle)]
            found.append(replace(one, findings=tuple(findings)))
        return tuple(found)

    def _insertion_findings(self, profile: Profile, progress: Progress) -> dict[str, list[Finding]]:
        """Findings on each piece that is inserted into a board, by the piece's id."""
        found = defaultdict[str, list[Finding]](list)
        known = {piece.id for piece in self.as_scanned.pieces}
        boards = [one for one in self.boards if one.part.kind in (HOLES, SOCKETS)]
        for key, board in ((one.key, one.part) for one in boards):
            pieces = {
                one.key: one.pegs or one.part
                for one in self.parts
                if one.key in known and (one.pegs if board.kind == SOCKETS else one.part.balls)
            }
            of_board = insertion_findings(pieces, board, self.puzzle.lattice, profile, progress)
            for name, some in of_board.items():
                where = f"in {key}, " if len(boards) > 1 else ""
                found[name] += (replace(one, message=where + one.message) for one in some)
        return found

    def limits(self, profile: Profile) -> Profile:
        """A profile's limits for the set; gaps that the shapes of cells leave are not limited."""
        limits = profile_as_made(self.puzzle, profile)
        is_open = cells_leave_gaps(self.puzzle, profile)
        return replace(limits, gap_max_mm=profile.unit_mm) if is_open else limits

    def scale_findings(self) -> list[Finding]:
        """Findings on the files' unit of length and on the clearance between flat pieces."""
        name = next(name for name, mm in LENGTH_UNITS_MM.items() if mm == self.length_mm)
        message = f"lengths in the files are in {name}"
        if name != "mm":
            message += ", but slicers read them as mm; scale the files"
        found = [Finding("length-unit", name == "mm", self.length_mm, 1.0, "mm", message)]
        if self.common:
            gap_mm, least_mm = 2 * self.common.inset_mm, 0.01  # less is none
            message = f"the clearance between two parts is {round(gap_mm, 3) + 0.0:.3f} mm"
            if gap_mm <= least_mm:
                message += "; without any, the printed parts will not fit together"
            found.append(Finding("clearance", gap_mm > least_mm, gap_mm, least_mm, "mm", message))
        return found

    def solve_and_assemble(
        self,
        profile: Profile,
        budget_s: float | None,
        progress: Progress,
        known: Sequence[ChallengeResult] | None = None,
    ) -> list[ChallengeResult]:
        """Solve the catalog's challenges, each in `budget_s`, and assemble the solutions from meshes.

        `known` answers are not solved again; `profile` limits the gaps. Challenges with pieces that
        are not as drawn are also solved with the pieces as drawn.
        """
        if known is None:
            known = solve_catalog(self.as_scanned, budget_s, progress)
            other = {one.piece for one in self.parts if one.piece and not one.as_drawn}
            redo = [a.challenge for a in known if not a.missing and other & {*a.challenge.pieces}]
            unclaimed = replace(self.puzzle, challenges=tuple(c for c in redo if not c.answer))
            again = solve_catalog(unclaimed, budget_s, progress)
            answers = {c.id: c.answer for c in redo} | {a.challenge.id: a.status for a in again}
            known = [replace(a, status_as_drawn=answers.get(a.challenge.id, "")) for a in known]
        found, pieces, lattice = list(known), self.pieces(), self.puzzle.lattice
        flat = {key: [flat_piece(key, one, lattice)] for key, one in pieces.items() if one.outline}
        holes = [(one.part, one.part.board) for one in self.boards if one.part.kind == HOLES]
        for at, one in enumerate(found):
            if one.layout and not one.assembly:
                progress(at, len(found), f"assembling {one.challenge.id}")
                on: BallSetup = flat, None
                region = one.challenge.region
                if self.balls:
                    around = (part for part, board in holes if board and region <= board.cells)
                    on = ball_setup(pieces, next(around, None))
                assembly = assemble(one.challenge, one.layout, profile, on)
                found[at] = replace(one, assembly=assembly)
        return found


def _file_name_finding(one: ScannedPart, puzzle: PuzzleSet) -> Finding:
    """Whether a file that is named like a part of the set holds that part, if it was identified."""
    stem = part_name(one.name)
    named = {board.id + end for board in puzzle.boards for end in ("", LID_SUFFIX)} & {stem}
    named |= {
        piece.id
        for piece in puzzle.pieces
        if stem.casefold() in (piece.id.casefold(), piece.label.casefold())
        and not stem.isdigit()  # unless they are just numbers of files
    }
    held = {one.piece, *(() if one.letter else one.alike)}
    ok = not (one.piece or one.part.board) or not named or bool(named & held)
    message = "the file's name matches what it holds"
    message = message if ok else f"the file is named {stem} but holds {one.piece or one.key}"
    return Finding("file-name", ok, None, None, "", message)


def part_name(name: str) -> str:
    """The name of a mesh: its object's name, else its file's stem; empty for one of several.

    Example:
        >>> [part_name(one) for one in ("A.stl", "plate.3mf: B", "all.stl (2)", "C")]
        ['A', 'B', '', 'C']
    """
    if (found := _NAME.fullmatch(name)) is None:
        return name
    file, _, inside, apart = found.groups()
    return PurePath(inside or ("" if apart else file)).stem


# --- scanning ------------------------------------------------------------------------------


def scan_set(meshes: Sequence[Mesh], puzzle: PuzzleSet, *units_mm: float) -> ScannedSet:
    """Identify meshes, in any order, as the parts of a set.

    A mesh of several separate parts is split. The grid unit may be any of `units_mm`.
    """
    meshes = [part for mesh in meshes for part in split_components(mesh)]
    copies = _duplicates(meshes)
    meshes = [mesh for mesh in meshes if mesh not in copies]
    # The order of files must not affect any result, not even by rounding.
    meshes.sort(key=lambda mesh: (len(mesh.faces), len(mesh.vertices), mesh.name))
    # Pieces determine the files' unit of length. Boards do not, and recognising them depends on it.
    # If no unit fits, it is mm.
    for boards_mm in (*LENGTH_UNITS_MM.values(), 1.0) if puzzle.boards else (1.0,):
        parts, length_mm, pegs, large = _fit_parts(meshes, puzzle, units_mm, boards_mm)
        if length_mm == boards_mm and any(part.outline or part.balls for part in parts):
            break
    found = [find_features(part) if part.kind == FLAT else None for part in parts]
    pieces = [
        replace(one, pegs=under)
        for one, under in zip(identify(parts, found, puzzle), pegs, strict=True)
    ]
    boards = fit_boards(large, puzzle, *units_mm, length_mm=boards_mm)
    return ScannedSet(
        puzzle,
        tuple(pieces),
        tuple(_named_boards(boards, puzzle)),
        length_mm,
        tuple(mesh.name for mesh in copies),
    )


def _named_boards(boards: Iterable[Part], puzzle: PuzzleSet) -> Iterator[ScannedPart]:
    """Boards and lids with unique names, in the order of the set's boards."""
    order, numbers = [*puzzle.boards, None], Counter[str]()
    for part in sorted(boards, key=lambda one: (order.index(one.board), one.kind == LID)):
        ending = LID_SUFFIX if part.kind == LID else ""
        stem = part.board.id + ending if part.board else "unknown-board"
        key = unique_key(stem, numbers, part.board is not None)
        yield ScannedPart(part, key=key, alike=tuple(one + ending for one in part.alike))


def _duplicates(meshes: Sequence[Mesh]) -> list[Mesh]:
    """The meshes that are copies, in another format, of those in the first one's format."""
    names = [_NAME.fullmatch(mesh.name) for mesh in meshes]
    formats = [name[2].lower() if name else "" for name in names]
    firsts = [one for one, ending in zip(meshes, formats, strict=True) if ending == formats[0]]
    found = []
    for mesh, ending in zip(meshes, formats, strict=True):
        twins = (
            one
            for one in firsts
            if len(one.faces) == len(mesh.faces)
            and math.isclose(*(abs(signed_volume(o)) for o in (one, mesh)), rel_tol=1e-4)
        )
        if ending != formats[0] and (twin := next(twins, None)):
            firsts.remove(twin)
            found.append(mesh)
    return found


def _fit_parts(
    meshes: Sequence[Mesh], puzzle: PuzzleSet, units_mm: Sequence[float], length_mm: float
) -> tuple[Sequence[Part], float, Sequence[PeggedPart | None], list[Mesh]]:
    """Fit all small parts: the parts, their unit of length, those on pegs; and the large meshes.

    Meshes are large if they can only be boards, assuming `length_mm`.
    """
    large = [one for one in meshes if is_board_sized(one, puzzle, *units_mm, length_mm=length_mm)]
    small = [one for one in meshes if one not in large]
    if may_have_pegs(puzzle):
        return *fit_pieces_on_pegs(small, puzzle, *units_mm), large
    reader = fit_ball_pieces if puzzle.made_of_balls else fit_flat_pieces
    return *reader(small, puzzle, *units_mm), [None for _ in small], large


# --- matching a profile ------------------------------------------------------


def match_profile(scan: ScannedSet, candidates: Sequence[Profile]) -> Profile | None:
    """The first profile that most parts match; None if there is none."""
    return next(
        (one for one in candidates if _matches(scan, profile_as_made(scan.puzzle, one))), None
    )


def _matches(scan: ScannedSet, profile: Profile) -> bool:
    """Whether most parts match a profile in clearance, thickness, recesses and marks; or in balls
    and links, except where the flat on the bed cuts them."""
    recesses = [recess for one in scan.features for recess in one.recesses]
    balls_mm = [mm for one in scan.balls for mm in one.diameters_mm]
    links_mm = [mm for one in scan.balls for mm in one.links_mm]
    if balls_mm and links_mm:
        unit_mm, link_mm = median(one.pitch_mm for one in scan.balls), median(links_mm)
        widths_mm = profile.link_mm, height_on_bed_mm(profile)
        measures = [
            (median(balls_mm), profile.ball_mm, TOLERANCE_MM),
            (link_mm, min(widths_mm, key=lambda mm: abs(link_mm - mm)), TOLERANCE_MM),
        ]
    elif (common := scan.common) and bool(recesses) == profile.has_recesses:
        unit_mm, is_open = common.unit_mm, cells_leave_gaps(scan.puzzle, profile)
        measures = [
            (common.inset_mm, common.inset_mm if is_open else profile.inset_mm, 0.01),
            (common.thickness_mm, profile.thickness_mm, TOLERANCE_MM),
        ]
        if recesses:
            measures.append(
                (median(scan.recesses_mm), recess_diameters(profile).widest_mm, TOLERANCE_MM / 2)
            )
            closed = sum(not one.below and not one.above for one in recesses)
            marks = sum(len(one.marks) for one in scan.features)
            # Where poles alternate half the magnets are marked.
            alternates = 4 * marks <= len(recesses) or profile.polarity == "alternating"
            if (2 * closed > len(recesses)) != profile.embedded or not alternates:
                return False
    else:
        return False
    measures.append((unit_mm / profile.unit_mm, 1.0, UNIT_TOLERANCE))
    return all(abs(measured - expected) < off for measured, expected, off in measures)
