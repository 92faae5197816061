"""For notebooks: sets, pieces, challenges and solutions that show themselves.

Type in Jupyter, in CQ-Editor or in any Python console::

    from fabkit.notebook import load_set

    fridgeiq = load_set("fridgeiq")
    fridgeiq                                   # a table, and the pieces
    fridgeiq["L"]                              # one piece
    fridgeiq["L"].solid()                      # the same for CQ-Editor and ocp_vscode: CadQuery
    fridgeiq.challenge("square_05")            # what is to be covered
    fridgeiq.challenge("square_05").solve()    # and how
    fridgeiq.challenge("square_05").solve().steps()

All text from a set file is shown as text, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fabkit.core.errors import InputError, cut, many, printable
from fabkit.core.units import format_mm
from fabkit.model.catalog import catalog_entries, catalog_path
from fabkit.model.challengeload import find_challenge, known_names
from fabkit.model.entry import Entry, challenge_of, entry_of
from fabkit.model.lattice import Cell
from fabkit.model.library import load_set as _load_set
from fabkit.model.piece import Piece
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.solid.export import Shape

#: So long, in seconds, a solution is sought unless another time is asked for.
BUDGET_S = 60.0
#: What is said of a challenge without a solution to show, by its status.
_WITHOUT = {"impossible": "no solution", "unknown": "not solved in the time given"}

#: What a table calls what a set file tells of its origin.
_ORIGIN = {"credit": "shapes by", "licence": "licence"}


def load_set(name: str, *profiles: str, settings: Sequence[str] = ()) -> ShownSet:
    """Loads a set that shows itself.

    Args:
        name: a shipped set's, or a path to a set file.
        profiles: presets by name or profile files by path, later ones winning.
        settings: single settings such as ``"unit=15 mm"``, which have the last word.

    Raises:
        InputError: when there is no such set or profile, or its file has faults.

    Example:
        >>> load_set("fridgeiq")
        FridgeIQ: 16 pieces, unit 20 mm
        >>> load_set("fridgeiq", settings=["unit=15 mm"])["Q"]
        piece Q of FridgeIQ, unit 15 mm
    """
    puzzle = _load_set(name)
    return ShownSet(puzzle, load_profile(profiles, settings, puzzle.unit_mm))


@dataclass(frozen=True, repr=False)
class ShownSet:
    """A set, and how it is printed. A notebook shows a table and the drawing of its pieces.

    Example:
        >>> iqfit = load_set("iqfit")
        >>> len(iqfit), [piece.id for piece in iqfit][:2], "blue" in iqfit
        (10, ['blue', 'green'], True)
        >>> iqfit["blue"]
        piece blue of IQ Fit, unit 15 mm
    """

    puzzle: PuzzleSet
    profile: Profile

    def __getitem__(self, piece_id: str) -> ShownPiece:
        """A piece by its id, or an InputError."""
        return ShownPiece(self.puzzle, self.puzzle.piece(piece_id), self.profile)

    def __iter__(self) -> Iterator[ShownPiece]:
        """The pieces, in the set's order."""
        return (ShownPiece(self.puzzle, piece, self.profile) for piece in self.puzzle.pieces)

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self.puzzle.pieces)

    def __contains__(self, piece_id: object) -> bool:
        """Whether there is a piece of that name."""
        return any(piece.id == piece_id for piece in self.puzzle.pieces)

    @property
    def challenges(self) -> list[str]:
        """The names that `challenge` knows: of challenges, boards and snowflakes.

        Example:
            >>> load_set("iqblock").challenges
            ['square']
        """
        made = [str(entry["id"]) for entry in catalog_entries(self.puzzle)]
        return list(dict.fromkeys([*known_names(self.puzzle), *made]))

    def challenge(self, name: str) -> ShownChallenge:
        """A challenge, a board that all pieces cover, or a snowflake, by its id, or an InputError."""
        made = [one for one in catalog_entries(self.puzzle) if one["id"] == name]
        if made and name not in known_names(self.puzzle):
            from fabkit.model.catalog import read_snowflakes

            source = catalog_path(self.puzzle).name
            (entry,) = read_snowflakes({"challenges": made}, self.puzzle, source)
        else:
            entry = entry_of(find_challenge(self.puzzle, name))
        return ShownChallenge(self.puzzle, entry, self.profile)

    def __repr__(self) -> str:
        unit = format_mm(self.profile.unit_mm)
        return f"{_plain(self.puzzle.title)}: {many(len(self), 'piece')}, unit {unit}"

    def _repr_svg_(self) -> str:
        from fabkit.output.pieces import piece_sheet

        return piece_sheet(self.puzzle, self.puzzle.pieces, self.profile)

    def _repr_html_(self) -> str:
        from fabkit.output.html import fact_sheet

        puzzle = self.puzzle
        facts = {
            "pieces": ", ".join(_plain(piece.id) for piece in puzzle.pieces),
            "lattice": puzzle.lattice.name + (" (balls)" if puzzle.made_of_balls else ""),
            "moves": "rotations and flips" if puzzle.flips else "rotations",
            "boards": ", ".join(board.id for board in puzzle.boards) or "none",
            "challenges": str(len(self.challenges)),
            "profile": _plain(self.profile.title),
            **{_ORIGIN[key]: _plain(text) for key, text in puzzle.origin.items()},
        }
        return fact_sheet(_plain(puzzle.title), facts, self._repr_svg_())

    def _ipython_key_completions_(self) -> list[str]:
        return [piece.id for piece in self.puzzle.pieces]


@dataclass(frozen=True, repr=False)
class ShownPiece:
    """A piece of a set. A notebook shows it as it is printed, with its sizes."""

    puzzle: PuzzleSet
    piece: Piece
    profile: Profile

    @property
    def id(self) -> str:
        """Its name in commands."""
        return self.piece.id

    def solid(self, *profiles: str, settings: Sequence[str] = ()) -> Shape:
        """The solid as it is printed: a CadQuery object, which `show_object` takes.

        Profiles and settings come in place of the set's; see `load_set`.

        Raises:
            InputError: when the profile does not suit the piece.
            OutsideError: when the CAD kernel fails.

        Example:
            >>> load_set("fridgeiq")["Q"].solid().isValid()
            True
        """
        from fabkit.build.artifacts import Artifacts, library_failures

        profile = self.profile
        if profiles or settings:
            profile = load_profile(profiles, settings, self.puzzle.unit_mm)
        with library_failures(f"the solid of {self.id}"):
            return Artifacts(self.puzzle, [self.piece], profile).solid(self.piece)

    def __repr__(self) -> str:
        title, unit = _plain(self.puzzle.title), format_mm(self.profile.unit_mm)
        return f"piece {self.id} of {title}, unit {unit}"

    def _repr_svg_(self) -> str:
        from fabkit.output.pieces import piece_sheet

        return piece_sheet(self.puzzle, [self.piece], self.profile)


@dataclass(frozen=True, repr=False)
class ShownChallenge:
    """A challenge of a set. A notebook shows what is to be covered."""

    puzzle: PuzzleSet
    entry: Entry
    profile: Profile

    def solve(self, budget_s: float | None = BUDGET_S) -> ShownSolution:
        """One solution: that of the shipped catalog, or one that is sought now.

        Args:
            budget_s: give up after so many seconds; None for no end.

        Returns:
            It; without pieces when there is none, or none was found in time.

        Example:
            >>> square = load_set("fridgeiq").challenge("square_01")
            >>> square.solve()
            square_01 of FridgeIQ, solved: R, M, J, I
            >>> sorted(len(cells) for cells in square.solve().layout.values())
            [6, 8, 10, 12]
        """
        from fabkit.solve.answer import solve
        from fabkit.solve.engines.engine import Effort
        from fabkit.solve.posing import pose

        entry = self.entry
        if entry.solution is None:
            posed = pose(self.puzzle, challenge_of(entry))
            answer = solve(posed, "first", None, Effort(budget_s))
            found = posed.layout(answer.solutions[0]) if answer.solutions else None
            entry = replace(entry, status=answer.status, solution=found)
        return ShownSolution(self.puzzle, entry, self.profile)

    def __repr__(self) -> str:
        pieces = many(len(self.entry.pieces), "piece")
        return f"{_plain(self.entry.title)} of {_plain(self.puzzle.title)}: {pieces}"

    def _repr_svg_(self) -> str:
        from fabkit.output.challenge import challenge_sheet

        unsolved = replace(self.entry, solution=None)
        return challenge_sheet(self.puzzle, unsolved, self.profile.unit_mm)


@dataclass(frozen=True, repr=False)
class ShownSolution:
    """A solution, if there is one. A notebook shows the challenge, and the pieces in their places.

    The ``status`` of its entry says whether it is solved.
    """

    puzzle: PuzzleSet
    entry: Entry
    profile: Profile

    @property
    def layout(self) -> Mapping[str, frozenset[Cell]]:
        """For each piece its cells; empty without a solution."""
        return self.entry.solution or {}

    def steps(self) -> ShownDrawing:
        """How it is put together, step by step; an InputError without a solution."""
        from fabkit.output.challenge import steps_sheet

        if not self.layout:
            message = f"{self.entry.id}: {_WITHOUT[self.entry.status]}, so there are no steps"
            raise InputError.of(self.puzzle.name, message)
        return ShownDrawing(steps_sheet(self.puzzle, self.entry, self.profile.unit_mm))

    def __repr__(self) -> str:
        of = f"{_plain(self.entry.title)} of {_plain(self.puzzle.title)}"
        known = f", solved: {', '.join(self.layout)}"
        return of + (known if self.layout else f": {_WITHOUT[self.entry.status]}")

    def _repr_svg_(self) -> str:
        from fabkit.output.challenge import challenge_sheet

        known = None if self.layout else _WITHOUT[self.entry.status]
        return challenge_sheet(self.puzzle, self.entry, self.profile.unit_mm, known)


@dataclass(frozen=True, repr=False)
class ShownDrawing:
    """A drawing, which a notebook shows."""

    svg: str

    def __repr__(self) -> str:
        return f"a drawing, SVG of {len(self.svg)} characters"

    def _repr_svg_(self) -> str:
        return self.svg


def _plain(text: str) -> str:
    """A user's text on one line, of a length that can be read, without what turns it around."""
    return cut(printable(text))
