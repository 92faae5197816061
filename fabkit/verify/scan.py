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

from fabkit.core.errors import InputError
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.boards.parts import printed_parts
from fabkit.drawing.draft import draft_printable
from fabkit.drawing.magnets import recess_diameters
from fabkit.jobs.parallel import Calls
from fabkit.mesh.ball_fit import BallFitter
from fabkit.mesh.board_fit import BoardFitter
from fabkit.mesh.features import Features, find_features, fit_circle
from fabkit.mesh.finding import Finding
from fabkit.mesh.fitting.assembly import BallSetup, assemble, ball_setup
from fabkit.mesh.identity import ScannedPart, identify, unique_key
from fabkit.mesh.inspect import inspect
from fabkit.mesh.joining import JoinedBoard, join_boards
from fabkit.mesh.lattice_fit import FlatFitter
from fabkit.mesh.measured_sizes import MeasuredSizes, measure_sizes
from fabkit.mesh.mesh import Mesh
from fabkit.mesh.part import FLAT, LENGTH_UNITS_MM, Balls, Part
from fabkit.mesh.pegs import on_pegs
from fabkit.mesh.placement import flat_piece
from fabkit.mesh.rules.ball import height_on_bed_mm
from fabkit.mesh.rules.board_text import reading_finding
from fabkit.mesh.rules.insertion import insertion_findings
from fabkit.mesh.rules.outline import TOLERANCE_MM, UNIT_TOLERANCE, CommonSizes, typical_corners_mm
from fabkit.mesh.topology import signed_volume, split_components
from fabkit.model.balls import BallError
from fabkit.model.blockers import with_blockers
from fabkit.model.piece import Form, Piece, canonical_turn, forms_of_balls
from fabkit.model.polygon import rings_of_cells
from fabkit.model.puzzle import LID_SUFFIX, PuzzleSet
from fabkit.profiles.accessory import (
    HOLES,
    LID,
    SOCKETS,
    Accessory,
    cells_leave_gaps,
    has_texts,
    may_have_pegs,
    profile_as_made,
)
from fabkit.profiles.profile import Profile
from fabkit.verify.challenge_results import ChallengeResult, challenges_to_solve, solve_catalog

#: The file, its suffix, the object in it, and the number of a mesh that was split off.
_NAME = re.compile(r"(.*?(\.\w{1,4}))(?:: (.*?))?( \(\d+\))?")
#: The name of the profile that is measured on the pieces themselves.
MEASURED = "measured"
#: The clearance between two parts up to which they count as having none.
_MIN_CLEARANCE_MM = 0.01
#: From so many parts on, they are measured in several processes, whose start takes a second.
_MANY = 32


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

    @cached_property
    def as_printed(self) -> PuzzleSet:
        """The set with its blockers among the pieces."""
        return with_blockers(self.puzzle)

    @property
    def flat(self) -> tuple[Part, ...]:
        """The parts that may be flat pieces."""
        return tuple(part.part for part in self.parts if part.features)

    @property
    def features(self) -> tuple[Features, ...]:
        """The features of the parts that may be flat pieces."""
        return tuple(part.features for part in self.parts if part.features)

    @property
    def balls(self) -> tuple[Balls, ...]:
        """The fitted balls of ball pieces."""
        return tuple(part.part.balls for part in self.parts if part.part.balls)

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
            recesses=mode(len(features.recesses) for features in self.features),
        )

    @cached_property
    def sizes(self) -> MeasuredSizes | None:
        """The sizes of most flat pieces; None if none could be fitted."""
        return measure_sizes(self.common, self.flat, self.features) if self.common else None

    def agrees_with(self, unit_mm: float) -> bool:
        """Return whether all parts were identified as pieces and boards of this grid unit."""
        names = [part.piece or part.part.board for part in (*self.parts, *self.boards)]
        units = [self.common.unit_mm] if self.common else [balls.pitch_mm for balls in self.balls]
        return all(names) and all(abs(mm / unit_mm - 1) < UNIT_TOLERANCE for mm in units)

    def measured_profile(self, usual: Profile) -> Profile:
        """Return the profile measured on the parts, called `MEASURED`; else the `usual` one."""
        if self.sizes is None:
            return usual
        has_lids = any(board.part.kind == LID for board in self.boards)
        return replace(self.sizes.profile(usual), lid=usual.lid if has_lids else "none")

    @cached_property
    def recesses_mm(self) -> tuple[float, ...]:
        """The diameters of all recesses."""
        return tuple(
            fit_circle(recess.middle).diameter_mm
            for features in self.features
            for recess in features.recesses
        )

    def pieces(self) -> dict[str, Part]:
        """Return the fitted part of each piece, by the piece's id."""
        return {
            part.key: part.part
            for part in self.parts
            if part.piece == part.key and (part.part.outline or part.part.balls)
        }

    @cached_property
    def as_scanned(self) -> PuzzleSet:
        """The set with the forms of the meshes in place of the drawn ones.

        Pieces that were not fitted, and ball pieces that cannot lie flat, are omitted.
        """
        lattice = self.puzzle.lattice
        pieces = list[Piece]()
        parts = self.pieces()
        marks_by_piece = {part.key: part.piece_marks for part in self.parts}
        for piece in (piece for piece in self.puzzle.pieces if piece.id in parts):
            part = parts[piece.id]
            if part.outline:
                # The canonical image, so that solutions do not depend on the rotation of a mesh.
                turn = canonical_turn(lattice, part.outline.cells)
                images = {cell: turn(cell) for cell in part.outline.cells}
                dx, dy = lattice.anchor(images.values())
                moved = {cell: (x - dx, y - dy) for cell, (x, y) in images.items()}
                cells = frozenset(moved.values())
                form = Form("", cells, rings_of_cells(lattice, cells))
                marks = marks_by_piece[piece.id]
                front, back = (
                    tuple(sorted((moved[cell], mark) for cell, mark in side))
                    for side in (marks.front, marks.back)
                )
                scanned = replace(piece, forms=(form,), tones=frozenset(), marks=front, back=back)
                pieces.append(scanned)
            elif part.balls:
                with suppress(BallError):
                    forms = forms_of_balls(part.balls.shape)
                    pieces.append(replace(piece, forms=forms, body=part.balls.shape))
        challenges = challenges_to_solve(self.puzzle)
        return replace(self.puzzle, pieces=tuple(pieces), challenges=challenges)

    def inspect(self, profile: Profile, progress: Progress) -> tuple[ScannedPart, ...]:
        """Check every part: pieces in the set's order, then boards and lids."""
        inserted = self._insertion_findings(profile, progress)
        common = self.common and replace(self.common, measured=profile.name == MEASURED)
        order = {piece.id: number for number, piece in enumerate(self.as_printed.pieces)}
        parts = sorted(
            self.parts, key=lambda part: (order.get(part.piece or "", len(order)), part.key)
        )
        boards = [board.part for board in self.boards]
        parts += self.boards
        names = [f"inspecting {part.key}" for part in parts]
        arguments = [(part, boards, common, self.as_printed, profile) for part in parts]
        results = Calls(inspect, arguments, names, _MANY).results(progress)
        inspected = []
        for part, findings in zip(parts, results, strict=True):
            file_name = _file_name_finding(part, self.as_printed)
            findings_of_part = (*findings, *inserted[part.piece or ""], file_name)
            inspected.append(replace(part, findings=findings_of_part))
        return tuple(inspected)

    def _insertion_findings(self, profile: Profile, progress: Progress) -> dict[str, list[Finding]]:
        """Return findings on each piece that is inserted into a board, by the piece's id."""
        findings = defaultdict[str, list[Finding]](list)
        ids = {piece.id for piece in self.as_scanned.pieces}
        boards = [board for board in self.boards if board.part.kind in (HOLES, SOCKETS)]
        for board in boards:
            has_sockets = board.part.kind == SOCKETS
            pieces = {
                part.key: part.pegs or part.part
                for part in self.parts
                if part.key in ids and (part.pegs if has_sockets else part.part.balls)
            }
            where = f"in {board.key}, " if len(boards) > 1 else ""
            lattice = self.puzzle.lattice
            of_board = insertion_findings(pieces, board.part, lattice, profile, progress)
            for piece_id, of_piece in of_board.items():
                for finding in of_piece:
                    findings[piece_id].append(replace(finding, message=where + finding.message))
        return findings

    def text_findings(self, profile: Profile) -> Iterator[Finding]:
        """Yield the findings on which text is on which cell of each tray."""
        for board in self.boards:
            if has_texts(board.part.kind, board.part.board, profile):
                finding = reading_finding(board.part, self.puzzle.lattice)
                yield replace(finding, message=f"{board.key}: {finding.message}")

    def limits(self, profile: Profile) -> Profile:
        """Return a profile's limits for the set; gaps left by the shapes of cells have none."""
        limits = profile_as_made(self.puzzle, profile)
        is_open = cells_leave_gaps(self.puzzle, profile)
        return replace(limits, gap_max_mm=profile.unit_mm) if is_open else limits

    def scale_findings(self) -> list[Finding]:
        """Return findings on the files' unit of length and the clearance between flat pieces."""
        name = next(name for name, mm in LENGTH_UNITS_MM.items() if mm == self.length_mm)
        message = f"lengths in the files are in {name}"
        if name != "mm":
            message += ", but slicers read them as mm; scale the files"
        findings = [Finding("length-unit", name == "mm", self.length_mm, 1.0, "mm", message)]
        if self.common:
            gap_mm = 2 * self.common.inset_mm
            ok = gap_mm > _MIN_CLEARANCE_MM
            message = f"the clearance between two parts is {round(gap_mm, 3) + 0.0:.3f} mm"
            if not ok:
                message += "; without any, the printed parts will not fit together"
            findings.append(Finding("clearance", ok, gap_mm, _MIN_CLEARANCE_MM, "mm", message))
        return findings

    def solve_and_assemble(
        self,
        profile: Profile,
        budget_s: float | None,
        progress: Progress,
        known: Sequence[ChallengeResult] | None = None,
    ) -> list[ChallengeResult]:
        """Solve the catalog's challenges, each in `budget_s`, and assemble solutions from meshes.

        `known` answers are not solved again; `profile` limits the gaps. Challenges with pieces that
        are not as drawn are also solved with the pieces as drawn.
        """
        if known is None:
            known = solve_catalog(self.as_scanned, budget_s, progress)
            known = self._with_status_as_drawn(known, budget_s, progress)
        results = list(known)
        pieces = self.pieces()
        lattice = self.puzzle.lattice
        flat = {
            key: [flat_piece(key, part, lattice)] for key, part in pieces.items() if part.outline
        }
        holes = [board.part for board in self.boards if board.part.kind == HOLES]
        for index, result in enumerate(results):
            if result.layout and not result.assembly:
                counted(progress, index, len(results), f"assembling {result.challenge.id}")
                setup: BallSetup = flat, None
                region = result.challenge.region
                if self.balls:
                    around = (part for part in holes if part.board and region <= part.board.cells)
                    setup = ball_setup(pieces, next(around, None))
                assembly = assemble(result.challenge, result.layout, profile, setup)
                results[index] = replace(result, assembly=assembly)
        return results

    def _with_status_as_drawn(
        self, results: Sequence[ChallengeResult], budget_s: float | None, progress: Progress
    ) -> list[ChallengeResult]:
        """Return results with the status as drawn, where a challenge has pieces not as drawn."""
        other = {part.piece for part in self.parts if part.piece and not part.plays_as_drawn}
        affected = [
            result.challenge
            for result in results
            if not result.missing and other & {*result.challenge.pieces}
        ]
        statuses = {challenge.id: challenge.answer for challenge in affected}
        unclaimed = tuple(challenge for challenge in affected if not challenge.answer)
        drawn = solve_catalog(replace(self.puzzle, challenges=unclaimed), budget_s, progress)
        statuses |= {result.challenge.id: result.status for result in drawn}
        return [
            replace(result, status_as_drawn=statuses.get(result.challenge.id, ""))
            for result in results
        ]


def _file_name_finding(scanned: ScannedPart, puzzle: PuzzleSet) -> Finding:
    """Check that a file named like a part of the set holds that part, if it was identified."""
    stem = part_name(scanned.name)
    named = {board.id + end for board in puzzle.boards for end in ("", LID_SUFFIX)} & {stem}
    named |= {
        piece.id
        for piece in puzzle.pieces
        if stem.casefold() in (piece.id.casefold(), piece.label.casefold())
        and not stem.isdigit()  # unless they are just numbers of files
    }
    held = {scanned.piece, *(() if scanned.letter else scanned.alike)}
    ok = not (scanned.piece or scanned.part.board) or not named or bool(named & held)
    message = "the file's name matches what it holds"
    if not ok:
        message = f"the file is named {stem} but holds {scanned.piece or scanned.key}"
    return Finding("file-name", ok, None, None, "", message)


def part_name(name: str) -> str:
    """Return the name of a mesh: its object's, else its file's stem; empty for one of several.

    Example:
        >>> [part_name(name) for name in ("A.stl", "plate.3mf: B", "all.stl (2)", "C")]
        ['A', 'B', '', 'C']
    """
    if (match := _NAME.fullmatch(name)) is None:
        return name
    file, _, inside, apart = match.groups()
    return PurePath(inside or ("" if apart else file)).stem


# --- scanning ------------------------------------------------------------------------------


class Scanner:
    """Identifies meshes, in any order, as the parts of a set.

    A mesh of several separate parts is split. What a mesh shows is found once, and compared with
    each unit that a scan tries.
    """

    def __init__(
        self,
        meshes: Sequence[Mesh],
        puzzle: PuzzleSet,
        progress: Progress = no_progress,
        profiles: Iterable[Profile] = (),
    ) -> None:
        """Split meshes, and assemble boards that any of the profiles makes in parts."""
        parts = [part for mesh in meshes for part in split_components(mesh)]
        copies = _duplicates(parts)
        self._copies = tuple(mesh.name for mesh in copies)
        # The order of files must not affect any result, not even by rounding.
        self._meshes = sorted(
            (mesh for mesh in parts if mesh not in copies),
            key=lambda mesh: (len(mesh.faces), len(mesh.vertices), mesh.name),
        )
        self._joined: list[JoinedBoard] = []
        for profile in profiles:
            self._joined += join_boards(self._meshes, _boards_in_parts(puzzle, profile))
            used = [part.mesh for board in self._joined for part in board.parts]
            self._meshes = [mesh for mesh in self._meshes if mesh not in used]
        self._puzzle = puzzle
        self._as_printed = with_blockers(puzzle)
        self._progress = progress
        fitter = BallFitter if puzzle.made_of_balls else FlatFitter
        self._fitter = fitter(self._as_printed)
        self._boards = BoardFitter(puzzle)
        self._features: dict[Part, Features] = {}

    def scan(self, *units_mm: float) -> ScannedSet:
        """Return the parts of the set, of one of some grid units, the likeliest first."""
        puzzle = self._puzzle
        fitted: dict[tuple[Mesh, ...], tuple[list[Part], float]] = {}
        # Pieces determine the files' unit of length. Boards do not, and recognising them depends on
        # it. If no unit fits, it is mm.
        for boards_mm in (*LENGTH_UNITS_MM.values(), 1.0) if puzzle.boards else (1.0,):
            large = [
                mesh
                for mesh in self._meshes
                if self._boards.is_board_sized(mesh, *units_mm, length_mm=boards_mm)
            ]
            small = tuple(mesh for mesh in self._meshes if mesh not in large)
            if small not in fitted:
                fitted[small] = self._fitter.fit(small, *units_mm)
            parts, length_mm = fitted[small]
            if length_mm == boards_mm and any(part.outline or part.balls for part in parts):
                break
        has_pegs = may_have_pegs(puzzle)
        pegs = [on_pegs(part, puzzle.lattice, units_mm[0]) if has_pegs else None for part in parts]
        plates = [under.plate if under else part for under, part in zip(pegs, parts, strict=True)]
        flat = [part for part in plates if part.kind == FLAT]
        new = [part for part in flat if part not in self._features]
        names = [f"measuring {part.name}" for part in new]
        calls = Calls(find_features, [(part,) for part in new], names, _MANY)
        self._features.update(zip(new, calls.results(self._progress), strict=True))
        features = [self._features.get(part) for part in plates]
        pieces = [
            replace(piece, pegs=under)
            for piece, under in zip(identify(plates, features, self._as_printed), pegs, strict=True)
        ]
        boards = self._boards.fit(large, *units_mm, length_mm=boards_mm)
        assembled = self._boards.fit([joined.mesh for joined in self._joined], *units_mm)
        for board, joined in zip(assembled, self._joined, strict=True):
            reason = ", ".join(f"its part {part_id} is missing" for part_id in joined.missing)
            part = Part(board.mesh, board.mesh.vertices, "", reason=reason) if reason else board
            boards.append(replace(part, parts=joined.parts))
        return ScannedSet(
            puzzle, tuple(pieces), tuple(_named_boards(boards, puzzle)), length_mm, self._copies
        )


def _boards_in_parts(puzzle: PuzzleSet, profile: Profile) -> list[list[BoardDrawing]]:
    """Return the drawings of the parts of each board or lid that is larger than the bed."""
    boards = defaultdict[tuple[str, bool], list[BoardDrawing]](list)
    everything = replace(profile, boards_made="all")
    with suppress(InputError):
        for part in printed_parts(puzzle, everything):
            if isinstance(part, Accessory) and part.part:
                drawing = draft_printable(puzzle, part, everything)
                assert isinstance(drawing, BoardDrawing)
                boards[part.board.id, part.kind == LID].append(drawing)
    return list(boards.values())


def _named_boards(boards: Iterable[Part], puzzle: PuzzleSet) -> Iterator[ScannedPart]:
    """Yield boards and lids with unique names, in the order of the set's boards."""
    order = [*puzzle.boards, None]
    numbers = Counter[str]()
    for part in sorted(boards, key=lambda part: (order.index(part.board), part.kind == LID)):
        ending = LID_SUFFIX if part.kind == LID else ""
        stem = part.board.id + ending if part.board else "unknown-board"
        key = unique_key(stem, numbers, part.board is not None)
        yield ScannedPart(part, key=key, alike=tuple(board_id + ending for board_id in part.alike))


def _duplicates(meshes: Sequence[Mesh]) -> list[Mesh]:
    """Return the meshes that are copies, in another format, of those in the first one's format."""
    names = [_NAME.fullmatch(mesh.name) for mesh in meshes]
    formats = [name[2].lower() if name else "" for name in names]
    originals = [mesh for mesh, ending in zip(meshes, formats, strict=True) if ending == formats[0]]
    copies = []
    for mesh, ending in zip(meshes, formats, strict=True):
        volume_mm3 = abs(signed_volume(mesh))
        twins = (
            original
            for original in originals
            if len(original.faces) == len(mesh.faces)
            and math.isclose(abs(signed_volume(original)), volume_mm3, rel_tol=1e-4)
        )
        if ending != formats[0] and (twin := next(twins, None)):
            originals.remove(twin)
            copies.append(mesh)
    return copies


# --- matching a profile ------------------------------------------------------


def match_profile(scan: ScannedSet, candidates: Sequence[Profile]) -> Profile | None:
    """Return the first profile that most parts match; None if there is none."""
    for profile in candidates:
        if _matches(scan, profile_as_made(scan.puzzle, profile)):
            return profile
    return None


def _matches(scan: ScannedSet, profile: Profile) -> bool:
    """Return whether most parts match a profile in clearance, thickness, recesses and marks; or in
    balls and links, except where the flat on the bed cuts them."""
    recesses = [recess for features in scan.features for recess in features.recesses]
    balls_mm = [mm for balls in scan.balls for mm in balls.diameters_mm]
    links_mm = [mm for balls in scan.balls for mm in balls.links_mm]
    if balls_mm and links_mm:
        unit_mm = median(balls.pitch_mm for balls in scan.balls)
        link_mm = median(links_mm)
        widths_mm = profile.link_mm, height_on_bed_mm(profile)
        measures = [
            (median(balls_mm), profile.ball_mm, TOLERANCE_MM),
            (link_mm, min(widths_mm, key=lambda mm: abs(link_mm - mm)), TOLERANCE_MM),
        ]
    elif (common := scan.common) and bool(recesses) == profile.has_recesses:
        unit_mm = common.unit_mm
        is_open = cells_leave_gaps(scan.puzzle, profile)
        measures = [
            (common.inset_mm, common.inset_mm if is_open else profile.inset_mm, 0.01),
            (common.thickness_mm, profile.thickness_mm, TOLERANCE_MM),
        ]
        if recesses:
            measures.append(
                (median(scan.recesses_mm), recess_diameters(profile).widest_mm, TOLERANCE_MM / 2)
            )
            closed = sum(not recess.below and not recess.above for recess in recesses)
            marks = sum(len(features.marks) for features in scan.features)
            # Where poles alternate half the magnets are marked.
            alternates = 4 * marks <= len(recesses) or profile.polarity == "alternating"
            if (2 * closed > len(recesses)) != profile.embedded or not alternates:
                return False
    else:
        return False
    measures.append((unit_mm / profile.unit_mm, 1.0, UNIT_TOLERANCE))
    return all(abs(measured - expected) < off for measured, expected, off in measures)
