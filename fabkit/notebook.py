"""For notebooks: sets, pieces, challenges and solutions with rich display.

Type in Jupyter, in CQ-Editor or in any Python console::

    from fabkit.notebook import load_set

    fridgeiq = load_set("fridgeiq")
    fridgeiq                                   # a table and the pieces
    fridgeiq["L"]                              # one piece
    fridgeiq["L"].solid()                      # the same for CQ-Editor and ocp_vscode: CadQuery
    fridgeiq.challenge("square_05")            # the region to cover
    fridgeiq.challenge("square_05").solve()    # a solution
    fridgeiq.challenge("square_05").solve().steps()

Text from set files is always escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabkit.core.errors import InputError, escape, pluralize, truncate
from fabkit.core.units import format_mm
from fabkit.model.entry import entry_of
from fabkit.model.lattice import Cell
from fabkit.model.piece import Piece
from fabkit.model.puzzle import MOVES, Entry, PuzzleSet
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import load_profile
from fabkit.sets.catalog import catalog_records, shipped_entry
from fabkit.sets.challenges import challenge_names, find_challenge
from fabkit.sets.library import load_set as _load_set

if TYPE_CHECKING:
    from fabkit.solid.export import Shape

#: Default time limit for a solution, in seconds.
BUDGET_S = 60.0
#: Text for a challenge without a solution, by its status.
_WITHOUT = {"impossible": "no solution", "unknown": "not solved within the time limit"}

#: Labels of a set's attribution.
_ATTRIBUTION = {"credit": "shapes by", "licence": "licence"}


def load_set(name: str, *profiles: str, settings: Sequence[str] = ()) -> SetView:
    """Load a set with rich display.

    Args:
        name: of a shipped set, or a path to a set file.
        profiles: presets by name or profile files by path; later ones take precedence.
        settings: single settings such as ``"unit=15 mm"``, which override the profiles.

    Raises:
        InputError: when there is no such set or profile, or its file has faults.

    Example:
        >>> load_set("fridgeiq")
        FridgeIQ: 16 pieces, unit 20 mm
        >>> load_set("fridgeiq", settings=["unit=15 mm"])["Q"]
        piece Q of FridgeIQ, unit 15 mm
    """
    puzzle = _load_set(name)
    return SetView(puzzle, load_profile(profiles, settings, puzzle.profile_values))


@dataclass(frozen=True, repr=False)
class SetView:
    """A set with a print profile. A notebook shows a table and a drawing of its pieces.

    Example:
        >>> iqfit = load_set("iqfit")
        >>> len(iqfit), [piece.id for piece in iqfit][:2], "blue" in iqfit
        (10, ['blue', 'green'], True)
        >>> iqfit["blue"]
        piece blue of IQ Fit, unit 15 mm
    """

    puzzle: PuzzleSet
    profile: Profile

    def __getitem__(self, piece_id: str) -> PieceView:
        """Return a piece by its id, or raise an InputError."""
        return PieceView(self.puzzle, self.puzzle.piece(piece_id), self.profile)

    def __iter__(self) -> Iterator[PieceView]:
        """Iterate over the pieces in the set's order."""
        return (PieceView(self.puzzle, piece, self.profile) for piece in self.puzzle.pieces)

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.puzzle.pieces)

    def __contains__(self, piece_id: object) -> bool:
        """Return whether there is a piece with this id."""
        return any(piece.id == piece_id for piece in self.puzzle.pieces)

    @property
    def challenges(self) -> list[str]:
        """Ids for `challenge`: of challenges, boards, snowflakes and starting positions.

        Example:
            >>> load_set("iqblock").challenges[:2]
            ['square', 'start-001']
        """
        catalog_ids = [str(entry["id"]) for entry in catalog_records(self.puzzle)]
        return list(dict.fromkeys([*challenge_names(self.puzzle), *catalog_ids]))

    def challenge(self, name: str) -> ChallengeView:
        """Return a challenge, whole board, snowflake or starting position by its id."""
        is_shipped = name not in challenge_names(self.puzzle)
        entry = shipped_entry(self.puzzle, name) if is_shipped else None
        entry = entry or entry_of(find_challenge(self.puzzle, name))
        return ChallengeView(self.puzzle, entry, self.profile)

    def __repr__(self) -> str:
        unit = format_mm(self.profile.unit_mm)
        return f"{_plain(self.puzzle.title)}: {pluralize(len(self), 'piece')}, unit {unit}"

    def _repr_svg_(self) -> str:
        from fabkit.output.pieces import piece_sheet

        return piece_sheet(self.puzzle, self.puzzle.pieces, self.profile)

    def _repr_html_(self) -> str:
        from fabkit.output.report import fact_sheet

        puzzle = self.puzzle
        facts = {
            "pieces": ", ".join(_plain(piece.id) for piece in puzzle.pieces),
            "lattice": puzzle.lattice.name + (" (balls)" if puzzle.made_of_balls else ""),
            "moves": MOVES[puzzle.flips],
            "boards": ", ".join(board.id for board in puzzle.boards) or "none",
            "challenges": str(len(self.challenges)),
            "profile": _plain(self.profile.title),
            **{_ATTRIBUTION[key]: _plain(text) for key, text in puzzle.attribution.items()},
        }
        return fact_sheet(_plain(puzzle.title), facts, self._repr_svg_())

    def _ipython_key_completions_(self) -> list[str]:
        return [piece.id for piece in self.puzzle.pieces]


@dataclass(frozen=True, repr=False)
class PieceView:
    """A piece of a set. A notebook shows a drawing of the printed piece with dimensions."""

    puzzle: PuzzleSet
    piece: Piece
    profile: Profile

    @property
    def id(self) -> str:
        """Id in commands."""
        return self.piece.id

    def solid(self, *profiles: str, settings: Sequence[str] = ()) -> Shape:
        """Return the printed solid as a CadQuery object, for `show_object`.

        Profiles and settings replace the set's; see `load_set`.

        Raises:
            InputError: when the profile is unsuitable for the piece.
            ExternalError: when the CAD kernel fails.

        Example:
            >>> load_set("fridgeiq")["Q"].solid().isValid()
            True
        """
        from fabkit.build.artifacts import Artifacts
        from fabkit.core.errors import library_failures

        profile = self.profile
        if profiles or settings:
            profile = load_profile(profiles, settings, self.puzzle.profile_values)
        with library_failures(lambda: f"the solid of {self.id}"):
            return Artifacts(self.puzzle, [self.piece], profile).solid(self.piece)

    def __repr__(self) -> str:
        title, unit = _plain(self.puzzle.title), format_mm(self.profile.unit_mm)
        return f"piece {self.id} of {title}, unit {unit}"

    def _repr_svg_(self) -> str:
        from fabkit.output.pieces import piece_sheet

        return piece_sheet(self.puzzle, [self.piece], self.profile)


@dataclass(frozen=True, repr=False)
class ChallengeView:
    """A challenge of a set. A notebook shows the region to cover."""

    puzzle: PuzzleSet
    entry: Entry
    profile: Profile

    def solve(self, budget_s: float | None = BUDGET_S) -> SolutionView:
        """Return the solution from the shipped catalog, or search for one; it has no pieces when
        there is none or the time was up. The time limit is in seconds, None for no limit.

        Example:
            >>> square = load_set("fridgeiq").challenge("square_01")
            >>> square.solve()
            square_01 of FridgeIQ, solved: R, M, J, I
            >>> sorted(len(cells) for cells in square.solve().layout.values())
            [6, 8, 10, 12]
        """
        from fabkit.solve.answer import solve
        from fabkit.solve.encoding import to_exact_cover
        from fabkit.solve.engines.engine import Budget

        entry = self.entry
        if not entry.solution:
            encoded = to_exact_cover(self.puzzle, entry.challenge)
            answer = solve(encoded, "first", None, Budget(budget_s))
            solution = encoded.decode(answer.solutions[0]) if answer.solutions else None
            entry = entry.with_result(status=answer.status, solution=solution)
        return SolutionView(self.puzzle, entry, self.profile)

    def __repr__(self) -> str:
        pieces = pluralize(len(self.entry.challenge.pieces), "piece")
        return f"{_plain(self.entry.challenge.name)} of {_plain(self.puzzle.title)}: {pieces}"

    def _repr_svg_(self) -> str:
        from fabkit.output.challenge import challenge_sheet

        unsolved = self.entry.with_result(solution=None)
        return challenge_sheet(self.puzzle, unsolved, self.profile.unit_mm)


@dataclass(frozen=True, repr=False)
class SolutionView:
    """A solution, if there is one; then the ``status`` of its entry is ``solved``. A notebook shows
    the challenge with the pieces on it."""

    puzzle: PuzzleSet
    entry: Entry
    profile: Profile

    @property
    def layout(self) -> Mapping[str, frozenset[Cell]]:
        """Cells of each piece; empty without a solution."""
        return self.entry.solution

    def steps(self) -> DrawingView:
        """Draw the assembly step by step; raise an InputError without a solution."""
        from fabkit.output.challenge import steps_sheet

        if not self.layout:
            reason = _WITHOUT[self.entry.result.status]
            message = f"{self.entry.challenge.id}: {reason}, so there are no steps"
            raise InputError.of(self.puzzle.name, message)
        return DrawingView(steps_sheet(self.puzzle, self.entry, self.profile.unit_mm))

    def __repr__(self) -> str:
        name = f"{_plain(self.entry.challenge.name)} of {_plain(self.puzzle.title)}"
        if self.layout:
            return f"{name}, solved: {', '.join(self.layout)}"
        return f"{name}: {_WITHOUT[self.entry.result.status]}"

    def _repr_svg_(self) -> str:
        from fabkit.output.challenge import challenge_sheet

        status = None if self.layout else _WITHOUT[self.entry.result.status]
        return challenge_sheet(self.puzzle, self.entry, self.profile.unit_mm, status)


@dataclass(frozen=True, repr=False)
class DrawingView:
    """A drawing for display in a notebook."""

    svg: str

    def __repr__(self) -> str:
        return f"a drawing, SVG of {len(self.svg)} characters"

    def _repr_svg_(self) -> str:
        return self.svg


def _plain(text: str) -> str:
    """Return a user's text on one line, truncated and without control characters."""
    return truncate(escape(text))
