"""A set as its meshes show it: what they are, measured on them alone, and held against limits."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from statistics import mode
from typing import Any

from fabkit.mesh.balls.recognise import identify_balls, take_in_balls
from fabkit.mesh.balls.rules import inspect_balls
from fabkit.mesh.boards.assembly import BallTable, board_stacks, clearance_of
from fabkit.mesh.boards.recognise import is_accessory, read_boards
from fabkit.mesh.boards.rules import inspect_board
from fabkit.mesh.boards.seating import balls_in_board, stubs_in_board
from fabkit.mesh.body import Body
from fabkit.mesh.features import Features, can_be_turned_over, circle_of, features
from fabkit.mesh.finding import Finding
from fabkit.mesh.fitting.assembly import Assembly, Table
from fabkit.mesh.fitting.tolerance import PrinterError, Solution, Tolerance, tolerance
from fabkit.mesh.identity import Identity, identify
from fabkit.mesh.inspect import in_common, inspect
from fabkit.mesh.made import Made, made_to
from fabkit.mesh.part import BALLS, FLAT, LENGTHS_MM, Part, inside_mm
from fabkit.mesh.recognise import take_in
from fabkit.mesh.rules.outline import UNIT_TOLERANCE, Common
from fabkit.mesh.stubs import OnStubs, stub_findings, take_in_on_stubs
from fabkit.mesh.topology import separate, signed_volume
from fabkit.model.accessory import (
    HOLES,
    LID,
    LID_ENDING,
    SEATS,
    has_stubs,
    keeps_own_gaps,
    may_have_stubs,
)
from fabkit.model.balls import BallError
from fabkit.model.piece import Piece, forms_of_balls
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.verify.answers import Answered, Progress, canonical_form
from fabkit.verify.reports import PartReport, read_as

#: A set whose parts are inset less than this (mm) has no clearance at all.
_NO_CLEARANCE_MM = 0.005
#: What is said of a mesh as such, whatever it shows …
SOUND_RULES = (
    "watertight", "winding", "degenerate", "self-intersection", "shells", "cavities", "volume",
)  # fmt: skip
#: … and what tells whether it is a part of the set, or why that cannot be told.
RECOGNITION_RULES = (
    "read-back", "shape", "cut-through", "ball-read", "ball-shape", "board-read",
)  # fmt: skip
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
        puzzle: the set that they should be.
        parts: those that may be pieces; of one that stands on stubs the plate above them.
        identities: which piece each of them is.
        boards: the parts that are boards or lids.
        length_mm: the files' unit of length, in mm.
        anatomies: what is open in each flat piece; none for pieces of balls.
        stubs: for each flat piece what stands on stubs.
        copies: names of bodies that are there in a file of another format as well, and are left out.
    """

    puzzle: PuzzleSet
    parts: tuple[Part, ...]
    identities: tuple[Identity, ...]
    boards: tuple[Part, ...]
    length_mm: float
    anatomies: tuple[Features, ...] = ()
    stubs: tuple[OnStubs | None, ...] = ()
    copies: tuple[str, ...] = ()

    @cached_property
    def flat(self) -> tuple[Part, ...]:
        """The parts that may be flat pieces."""
        return tuple(part for part in self.parts if part.kind == FLAT)

    @cached_property
    def balls(self) -> tuple[Part, ...]:
        """The parts that may be pieces of balls."""
        return tuple(part for part in self.parts if part.kind == BALLS)

    @cached_property
    def common(self) -> Common | None:
        """What flat pieces have in common."""
        return in_common(self.flat)

    @cached_property
    def made(self) -> Made | None:
        """What flat pieces are made to, as most of them show; None when none could be read."""
        return made_to(self.flat, self.anatomies)

    def agrees_with(self, unit_mm: float) -> bool:
        """Whether all parts were recognised, and are pieces and boards of this grid unit."""
        known = all(one.piece for one in self.identities) and all(one.board for one in self.boards)
        units = (
            [self.common.unit_mm]
            if self.common
            else [one.balls.pitch_mm if one.balls else 0.0 for one in self.balls]
        )
        return known and all(abs(one / unit_mm - 1) < UNIT_TOLERANCE for one in units)

    def shown(self, usual: Profile) -> Profile:
        """The profile that the parts show themselves, called `MEASURED`.

        Args:
            usual: for what they do not show, and when they show nothing.
        """
        if self.made is None:
            return usual
        has_lids = any(board.kind == LID for board in self.boards)
        return replace(self.made.profile(usual), lid=usual.lid if has_lids else "none")

    @cached_property
    def bores_mm(self) -> tuple[float, ...]:
        """The diameters of all recesses."""
        recesses = [recess for one in self.anatomies for recess in one.recesses]
        return tuple(circle_of(recess.middle).diameter_mm for recess in recesses)

    def pieces(self) -> dict[str, Any]:
        """The part that is each piece, by the piece's id, those that were read."""
        return {
            identity.piece: part
            for part, identity in zip(self.parts, self.identities, strict=True)
            if identity.piece and identity.piece == identity.key and read_as(part)
        }

    def read_pieces(self) -> dict[str, Piece]:
        """The pieces as they were read, with the forms that their meshes show, by id.

        Pieces of balls that cannot lie flat are left out.
        """
        found = {}
        for name, part in self.pieces().items():
            if part.balls is None:
                found[name] = read_piece(self.puzzle, name, part)
                continue
            try:
                forms = forms_of_balls(part.balls.shape)
            except BallError:
                continue
            found[name] = replace(self.puzzle.piece(name), forms=forms, body=part.balls.shape)
        return found

    def words(self, at: int) -> dict[str, object]:
        """How a part was read, for JSON.

        Args:
            at: its place in `parts`.
        """
        part, identity = self.parts[at], self.identities[at]
        read = read_as(part)
        told: dict[str, object] = {
            "file": part.name,
            "piece": identity.piece,
            "is": identity.words,
            "read": bool(read),
        }
        if read:
            return told | {"as_drawn": identity.as_drawn} | read
        return told | ({"why": part.why} if part.why else {})

    def inspect(self, profile: Profile, progress: Progress) -> tuple[PartReport, ...]:
        """What every rule says of each part that may be a piece, in the set's order."""
        seated = self._seated(profile, progress)
        limits, turns = self._with_own_gaps(profile), len(self.puzzle.lattice.moves(False))
        counts = [len(one.recesses) for one in self.anatomies]
        common = self.common and replace(
            self.common,
            measured=profile.name == MEASURED,
            recesses=mode(counts) if counts else None,
        )
        found = []
        for at, (part, identity) in enumerate(zip(self.parts, self.identities, strict=True)):
            progress(at, len(self.parts), f"inspecting {identity.key}")
            open_ = None
            if part.kind == BALLS:
                findings = inspect_balls(part, identity, self.puzzle, limits)
            else:
                open_ = self.anatomies[at]
                findings = inspect(part, open_, identity, common, self.puzzle, limits)
                if has_stubs(self.puzzle, profile):
                    findings += stub_findings(self.stubs[at], self.puzzle.lattice, limits)
            findings += seated.get(identity.piece or "", [])
            if identity.piece is None:  # what else would be measured means nothing
                known = (*SOUND_RULES, *RECOGNITION_RULES)
                findings = [one for one in findings if one.rule in known]
            findings.append(self._file_name(part.name, identity))
            degrees = -360.0 * identity.letter.turns / turns if identity.letter else 0.0
            told = identity.key, identity.words, identity.piece
            found.append(PartReport(part, *told, tuple(findings), open_, degrees))
        order = {piece.id: number for number, piece in enumerate(self.puzzle.pieces)}
        found.sort(key=lambda one: (order.get(one.piece or "", len(order)), one.key))
        return tuple(found)

    def inspect_boards(self, profile: Profile, progress: Progress) -> tuple[PartReport, ...]:
        """What every rule says of each board and lid, in the order of the set's boards."""
        found: list[PartReport] = []
        order = {board.id: number for number, board in enumerate(self.puzzle.boards)}

        def place(part: Part) -> tuple[int, bool]:
            return order.get(part.board.id, len(order)) if part.board else len(order), (
                part.kind == LID
            )

        numbers = Counter[str]()
        for done, part in enumerate(sorted(self.boards, key=place)):
            stem = _called(part)
            numbers[stem] += 1
            key = stem if numbers[stem] == 1 and part.board else f"{stem}-{numbers[stem]}"
            progress(done, len(self.boards), f"inspecting {key}")
            findings = list(inspect_board(part, self.boards, self.puzzle, profile))
            if part.board and part.board.optional:  # it may be made alone, as by --piece
                findings = [one for one in findings if one.rule != "board-lid"]
            if part.board is None:
                known = (*SOUND_RULES, *RECOGNITION_RULES)
                findings = [one for one in findings if one.rule in known]
            findings.append(self._file_name(part.name, part))
            found.append(PartReport(part, key, part.kind or "not read", None, tuple(findings)))
        return tuple(found)

    def _seated(self, profile: Profile, progress: Progress) -> dict[str, list[Finding]]:
        """What the rules of seats say of each piece that goes into a board, by the piece's id."""
        found: dict[str, list[Finding]] = {}
        pieces: Mapping[str, Any]
        for board in self.boards:
            if board.kind == SEATS:
                pieces = {
                    identity.piece: one
                    for identity, one in zip(self.identities, self.stubs, strict=False)
                    if one and one.whole.outline and identity.piece == identity.key
                }
                lattice = self.puzzle.lattice
                told = stubs_in_board(pieces, board, lattice, profile, progress)
            elif board.kind == HOLES and self.balls:
                known = self.read_pieces()
                pieces = {name: part for name, part in self.pieces().items() if name in known}
                told = balls_in_board(pieces, board, profile, progress)
            else:
                continue
            for name, some in told.items():
                found.setdefault(name, []).extend(some)
        return found

    def _file_name(self, name: str, what: Identity | Part) -> Finding:
        """Whether a file that is named like a part of the set holds that part."""
        stem, ok = stem_of(name), True
        named = [
            piece.id
            for piece in self.puzzle.pieces
            if stem.casefold() in (piece.id.casefold(), piece.label.casefold())
        ]
        if stem.isdigit():
            named = []  # which may as well be the files' own numbers
        boards = [board.id + end for board in self.puzzle.boards for end in ("", LID_ENDING)]
        if isinstance(what, Part):
            held = _called(what)
            ok = not named and (what.board is None or stem not in boards or stem == held)
        else:
            held = what.piece or "no piece of the set"
            alike = (what.piece,) if what.letter else (*what.alike, what.piece)
            if what.piece:
                ok = not (named and not set(named) & set(alike)) and stem not in boards
        message = f"the file is named {stem}, and holds {held}"
        if ok:
            message = "the file's name does not contradict what it holds"
        return Finding("file-name", ok, None, None, "", message)

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

    def assemble(
        self, solutions: Sequence[Answered], profile: Profile, progress: Progress
    ) -> list[Assembly]:
        """Puts solutions together from the meshes, balls in the board where there is one."""
        pieces, found = self.pieces(), []
        table: Table | BallTable = Table({}, self.puzzle.lattice, profile)
        if self.flat:
            table = Table(pieces, self.puzzle.lattice, self._with_own_gaps(profile))
        for done, one in enumerate(solutions):
            progress(done, len(solutions), f"assembling {one.challenge.id}")
            region = one.challenge.region
            if self.balls:
                table = BallTable(pieces, board_around(self.boards, region, HOLES), profile)
            found.append(table.assemble(one.challenge.id, region, one.layout))
        return found

    def tolerance(
        self, solutions: Sequence[Answered], profile: Profile, error: PrinterError
    ) -> Tolerance:
        """Whether rows close, and pieces go into their board, as a printer prints them.

        Each ball has its own hole, so errors of balls do not add up along rows.
        """
        lattice = self.puzzle.lattice
        solved = [
            Solution(
                one.challenge.id,
                one.challenge.region,
                one.layout,
                clearance_of(one.challenge.region, self.boards, lattice),
            )
            for one in solutions
            if self.flat
        ]
        stubs = [stub.diameter_mm for one in self.stubs if one for stub in one.stubs]
        balls = [part.balls for part in self.balls if part.balls]
        links = [width for one in balls for width in one.links_mm if not math.isnan(width)]
        widths: dict[str, Any] = {
            "stub_mm": max(stubs, default=0.0),
            "ball_mm": max((mm for one in balls for mm in one.diameters_mm), default=0.0),
            "link_mm": max(links, default=0.0),
        }
        seats = [s for board in self.boards for s in board_stacks(board, lattice, error, **widths)]
        bores = () if profile.fit == "ribs" else self.bores_mm  # ribs are there to be crushed
        magnet_mm = profile.magnet_diameter_mm if self.flat else 0.0
        pieces = self.pieces() if self.flat else {}
        return tolerance(pieces, lattice, solved, error, magnet_mm, bores, boards=seats)

    def can_be_turned_over(self) -> bool:
        """Whether every part can be played on either face; balls that hang in holes never can."""
        return not self.balls and all(map(can_be_turned_over, self.flat, self.anatomies))

    def least_gap_mm(self) -> float | None:
        """The gap between two flat parts in any solution; below 0 when one reaches out.

        Let each part's outline as seen lie at least c inside its outline as read. Outlines of a
        solution do not overlap, so a straight way from one part to another leaves the first
        outline and enters the second: it is at least as long as the two c together.

        Returns:
            None when it is not known: of balls the rules of seats tell it.
        """
        insides = sorted(
            inside_mm(part.shadow, part.outline.canonical)
            for part in self.pieces().values()
            if part.outline
        )
        return insides[0] + insides[1] if len(insides) > 1 else None


def read_piece(puzzle: PuzzleSet, name: str, part: Part) -> Piece:
    """A piece with the form that its mesh shows.

    Args:
        puzzle: the set.
        name: the piece's id.
        part: with its outline read.
    """
    assert part.outline is not None
    form = canonical_form(puzzle.lattice, part.outline.cells)
    return replace(puzzle.piece(name), forms=(form,), tones=frozenset())


def board_around(boards: Iterable[Part], region: frozenset[Any], kind: str) -> Part | None:
    """The board of some kind that has all cells of a region; None when there is none."""
    fitting = (one for one in boards if one.kind == kind)
    return next((one for one in fitting if one.board and region <= one.board.cells), None)


def _called(part: Part) -> str:
    """A board's name in reports, but for a number."""
    if part.board is None:
        return "unknown-board"
    return part.board.id + (LID_ENDING if part.kind == LID else "")


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
    """Reads meshes back.

    Args:
        bodies: of some files, in any order; one that holds parts apart is taken apart.
        puzzle: the set that they should be.
        units_mm: what the grid unit may be; see `fabkit.mesh.recognise.take_in`.
    """
    bodies, copies = _without_copies([part for body in bodies for part in separate(body)])
    # The order of files must not show in any result, not even in rounding.
    ordered = sorted(bodies, key=lambda body: (len(body.faces), len(body.vertices), body.name))
    read, large = _read(ordered, puzzle, units_mm, 1.0)
    # Pieces tell the files' unit of length. Boards do not, and what is taken for one depends on it.
    told = [read.length_mm] if any(map(read_as, read.parts)) else list(LENGTHS_MM.values())
    boards_mm = 1.0
    for length_mm in told if puzzle.boards and told != [1.0] else ():
        again, others = _read(ordered, puzzle, units_mm, length_mm)
        if again.length_mm == length_mm and any(map(read_as, again.parts)):
            read, large, boards_mm = again, others, length_mm
            break
    boards = read_boards(large, puzzle, *units_mm, length_mm=boards_mm)
    found = tuple(map(features, read.flat))
    named = identify(read.flat, found, puzzle) or identify_balls(read.balls, puzzle)
    return replace(
        read, identities=tuple(named), boards=tuple(boards), anatomies=found, copies=tuple(copies)
    )


def _without_copies(bodies: Sequence[Body]) -> tuple[list[Body], list[str]]:
    """Bodies that are no copies, in another format, of those before; and the names of the others.

    A piece that is there twice in files of one format is there twice.
    """
    endings = [_ending(body) for body in bodies]
    if len(set(endings)) < 2:
        return list(bodies), []
    sizes = [(len(body.faces), abs(signed_volume(body))) for body in bodies]
    there = [size for size, ending in zip(sizes, endings, strict=True) if ending == endings[0]]
    kept, copies = list[Body](), list[str]()
    for body, ending, (faces, volume) in zip(bodies, endings, sizes, strict=True):
        same = (
            one
            for one in there
            if one[0] == faces and abs(one[1] - volume) <= _SAME_VOLUME * volume
        )
        twin = None if ending == endings[0] else next(same, None)
        if twin:
            there.remove(twin)
            copies.append(body.name)
        else:
            kept.append(body)
    return kept, copies


def _ending(body: Body) -> str:
    """How the name of a body's file ends."""
    found = _NAME.fullmatch(body.name)
    return PurePath(found["file"]).suffix.lower() if found else ""


def _read(
    bodies: Sequence[Body], puzzle: PuzzleSet, units_mm: Sequence[float], length_mm: float
) -> tuple[Taken, list[Body]]:
    """Pieces as they were read, not yet named; and what is so large that it is a board.

    Args:
        bodies: in the order in which their parts are to come.
        puzzle: the set.
        units_mm: what the grid unit may be.
        length_mm: the files' unit of length, which decides on how large boards are.
    """
    large = [one for one in bodies if is_accessory(one, puzzle, *units_mm, length_mm=length_mm)]
    small = [one for one in bodies if one not in large]
    if puzzle.made_of_balls:
        read, own_mm = take_in_balls(small, puzzle, *units_mm)
        return Taken(puzzle, tuple(read), (), (), own_mm), large
    stubs: list[OnStubs | None] = [None for _ in small]
    if may_have_stubs(puzzle):
        read, own_mm, stubs = take_in_on_stubs(small, puzzle, *units_mm)
    else:
        read, own_mm = take_in(small, puzzle, *units_mm)
    return Taken(puzzle, tuple(read), (), (), own_mm, stubs=tuple(stubs)), large
