"""Starting positions, held against plain brute force that shares no code with what makes them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path

import pytest

from fabkit.model.entry import LEVELS
from fabkit.model.puzzle import Challenge, PuzzleSet
from fabkit.puzzles.graded import starting_positions
from fabkit.puzzles.graded.grading import Candidate, even_shares, grade_candidates
from fabkit.puzzles.graded.starting_positions import MINIMAL, StartingPositions
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.engines.engine import Budget, BudgetSpentError
from fabkit.solve.engines.frontier import Count

Place = tuple[int, int]
BAR: list[Place] = [(0, 0), (0, 1)]
ELL, BENT = [(0, 0), (1, 0), (2, 0), (2, 1)], [(0, 0), (1, 0), (1, 1)]
ESS, PEE = [(0, 1), (0, 2), (1, 0), (1, 1)], [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
BOTH = "rotations and flips"
#: Cells by row and column; ``moves``, board, and pieces of which two may be identical.
SMALL: dict[str, tuple[str, list[int], dict[str, list[Place]]]] = {
    "twins": (BOTH, [4, 4, 4], {"L": ELL, "K": ELL, "I": BAR, "J": BAR}),
    "turned": ("rotations", [5, 5, 5], {"L": ELL, "S": ESS, "V": BENT, "I": BAR, "D": BAR}),
    "notched": (BOTH, [4, 4, 3], {"P": PEE, "V": BENT, "I": [*BAR, (0, 2)]}),
}


def small_set(name: str, folder: Path) -> PuzzleSet:
    moves, rows, pieces = SMALL[name]
    text = f'[set]\nname = "{name}"\nlattice = "square"\nmoves = "{moves}"\n'
    text += f'[[board]]\nid = "tray"\nrows = {rows}\n'
    for piece, cells in pieces.items():
        text += f'[[piece]]\nid = "{piece}"\ncells = {[list(cell) for cell in cells]}\n'
    path = folder / f"{name}.toml"
    path.write_text(text)
    return load_set(str(path))


# --- brute force
# -----------------------------------------------------------------------------------


def at_origin(cells: list[Place]) -> list[Place]:
    """In their order."""
    top, left = min(row for row, _ in cells), min(col for _, col in cells)
    return [(row - top, col - left) for row, col in cells]


def images(cells: list[Place], flips: bool) -> Iterator[list[Place]]:
    for mirror in (1, -1)[: 1 + flips]:
        now = [(row, mirror * col) for row, col in cells]
        for _ in range(4):
            now = at_origin([(col, -row) for row, col in now])
            yield now


#: A placed piece, by its shape's name: identical pieces have the same.
PlacedPiece = tuple[str, frozenset[Place]]


class Brute:
    """All fillings, and all minimal starting positions up to symmetry, of a small set."""

    def __init__(self, name: str) -> None:
        moves, rows, pieces = SMALL[name]
        self.flips = "flips" in moves
        self.board = frozenset((row, col) for row, n in enumerate(rows) for col in range(n))
        self.shapes = {piece: str(sorted(at_origin(cells))) for piece, cells in pieces.items()}
        self.places = {piece: self.all_places(cells) for piece, cells in pieces.items()}
        self.fillings = set(self.fill(self.board, tuple(pieces)))
        self.turns = list(self.board_moves())

    def all_places(self, cells: list[Place]) -> set[frozenset[Place]]:
        return {
            frozenset((row + down, col + right) for row, col in image)
            for image in images(cells, self.flips)
            for down in range(6)
            for right in range(6)
        }

    def fill(
        self, free: frozenset[Place], pieces: tuple[str, ...]
    ) -> Iterator[frozenset[PlacedPiece]]:
        if not free and not pieces:
            yield frozenset()
        for piece in pieces if free else ():
            rest = tuple(other for other in pieces if other != piece)
            for place in self.places[piece]:
                if min(free) in place and place <= free:
                    for below in self.fill(free - place, rest):
                        yield below | {(self.shapes[piece], place)}

    def board_moves(self) -> Iterator[dict[Place, Place]]:
        cells = sorted(self.board)
        for moved in images(cells, self.flips):
            if set(moved) == self.board:
                yield dict(zip(cells, moved, strict=True))

    def alike(self, position: frozenset[PlacedPiece]) -> frozenset[frozenset[PlacedPiece]]:
        """The position and its images: the same for all that are alike."""
        return frozenset(
            frozenset((shape, frozenset(turn[cell] for cell in cells)) for shape, cells in position)
            for turn in self.turns
        )

    def count(self, position: frozenset[PlacedPiece]) -> int:
        return sum(position <= filling for filling in self.fillings)

    def positions(self, minimal: bool) -> set[frozenset[frozenset[PlacedPiece]]]:
        return {
            self.alike(position)
            for filling in self.fillings
            for size in range(len(filling) + (0 if minimal else 1))
            for position in map(frozenset, combinations(filling, size))
            if self.count(position) == 1
            and not (minimal and any(self.count(position - {one}) == 1 for one in position))
        }


def position_of(brute: Brute, puzzle: PuzzleSet, candidate: Candidate) -> frozenset[PlacedPiece]:
    return frozenset(
        (brute.shapes[given.piece], frozenset(map(puzzle.lattice.row_col, given.cells)))
        for given in candidate.challenge.given
    )


def positions_of(puzzle: PuzzleSet) -> StartingPositions:
    board = puzzle.boards[0]
    pieces = tuple(piece.id for piece in puzzle.pieces)
    challenge = Challenge(board.id, board.cells, pieces, flips=puzzle.flips)
    return StartingPositions(to_exact_cover(puzzle, challenge), Budget())


@pytest.mark.parametrize("name", SMALL)
def test_all_minimal_positions_of_a_small_board(name: str, tmp_path: Path) -> None:
    """Followed to their ends, the sources bring every minimal position once, and no others."""
    brute, puzzle = Brute(name), small_set(name, tmp_path)
    positions = positions_of(puzzle)
    assert positions.fillings is not None
    assert len(positions.fillings) == len(brute.fillings) > 1
    found = [one for source in positions.sources(MINIMAL, 7).values() for one in source if one]
    keys = [brute.alike(position_of(brute, puzzle, candidate)) for candidate in found]
    assert all(candidate.minimal for candidate in found)
    assert len(set(keys)) == len(keys) > 0
    assert set(keys) == brute.positions(minimal=True)


@pytest.mark.in_turn
@pytest.mark.parametrize("listed", [True, False])
def test_cells_that_stay_open_are_not_given_away(
    listed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the given pieces determine the solution; which cells stay open is for the player to
    find.
    """
    if not listed:
        monkeypatch.setattr(starting_positions, "_MAX_PIECES", 0)
    pieces = SMALL["turned"][2]
    monkeypatch.setitem(SMALL, "open", (BOTH, [5, 5, 5], {name: pieces[name] for name in "LSVI"}))
    small_set("open", tmp_path)
    text = (tmp_path / "open.toml").read_text()
    (tmp_path / "open.toml").write_text(text.replace('id = "tray"', 'id = "tray"\nopen = 2'))
    puzzle = load_set(str(tmp_path / "open.toml"))
    positions = StartingPositions(
        to_exact_cover(puzzle, puzzle.whole_board(puzzle.boards[0])), Budget()
    )
    assert (positions.fillings is not None) == listed
    found = [
        candidate
        for source in positions.sources(None, 7).values()
        for candidate in islice(source, 200)
        if candidate
    ]
    assert len(found) > 10
    for candidate in found:
        assert solve(to_exact_cover(puzzle, candidate.challenge), "count").count == 1
        for dropped in candidate.challenge.given if candidate.minimal else ():
            given = tuple(placed for placed in candidate.challenge.given if placed != dropped)
            fewer = replace(candidate.challenge, given=given)
            assert (solve(to_exact_cover(puzzle, fewer), "count").count or 0) > 1


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("listed", [True, pytest.param(False, marks=pytest.mark.integration)])
def test_positions_of_every_size(
    name: str, listed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of fillings that are listed all positions come; drawn by lot, most of them, with no end."""
    if not listed:
        monkeypatch.setattr(starting_positions, "_MAX_PIECES", 0)
    brute, puzzle = Brute(name), small_set(name, tmp_path)
    expected, minimal = brute.positions(minimal=False), brute.positions(minimal=True)
    for size in range(1, len(puzzle.pieces)):
        (source,) = positions_of(puzzle).sources(size, 3).values()
        found = [c for c in (source if listed else islice(source, 200)) if c]
        keys = {brute.alike(position_of(brute, puzzle, c)): bool(c.minimal) for c in found}
        assert len(keys) == len(found)
        of_size = {key for key in expected if len(next(iter(key))) == size}
        assert keys.keys() == of_size if listed else keys.keys() <= of_size
        assert 2 * len(keys) >= len(of_size)
        assert {key for key, alone in keys.items() if alone} == keys.keys() & minimal


@pytest.mark.parametrize("listed", [True, pytest.param(False, marks=pytest.mark.integration)])
def test_candidates_hold_their_solution(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not listed:
        monkeypatch.setattr(starting_positions, "_MAX_PIECES", 0)
    block = load_set("iqblock")
    sources = positions_of(block).sources(None, 2)
    found = [c for source in sources.values() for c in islice(source, 5) if c]
    assert len({len(candidate.challenge.given) for candidate in found}) >= 4
    for candidate in found[:: 3 if listed else 1]:
        given = {one.piece: one.cells for one in candidate.challenge.given}
        assert given.items() <= candidate.solution.items()
        assert frozenset().union(*candidate.solution.values()) == block.boards[0].cells
        assert sum(map(len, candidate.solution.values())) == len(block.boards[0].cells)
        assert (
            Count().count(to_exact_cover(block, candidate.challenge).problem, Budget()).count == 1
        )
        for one in candidate.challenge.given if candidate.minimal else ():
            rest = tuple(other for other in candidate.challenge.given if other != one)
            board = block.boards[0]
            fewer = Challenge("", board.cells, candidate.challenge.pieces, rest, block.flips)
            assert Count().count(to_exact_cover(block, fewer).problem, Budget()).count > 1


def test_positions_that_come_with_the_set_are_not_made_again(tmp_path: Path) -> None:
    """Nor are their images under the board's symmetries, with identical pieces exchanged."""
    brute, plain = Brute("twins"), small_set("twins", tmp_path)
    (source,) = positions_of(plain).sources(2, 1).values()
    first, *others = [candidate for candidate in source if candidate]
    assert others
    given = [
        f"{{ piece = {json.dumps('LKIJ'['LKIJ'.index(one.piece) ^ 1])}, cells = "
        f"{sorted([2 - row, 3 - col] for row, col in map(plain.lattice.row_col, one.cells))} }}"
        for one in first.challenge.given
    ]
    path = tmp_path / "twins.toml"
    own = f'\n[[challenge]]\nid = "own"\nboard = "tray"\ngiven = [{", ".join(given)}]\n'
    path.write_text(path.read_text() + own)
    (source,) = positions_of(load_set(str(path))).sources(2, 1).values()
    keys = [brute.alike(position_of(brute, plain, candidate)) for candidate in source if candidate]
    assert set(keys) == {brute.alike(position_of(brute, plain, candidate)) for candidate in others}
    assert brute.alike(position_of(brute, plain, first)) not in keys


def test_another_seed_gives_another_order() -> None:
    def first(seed: int) -> list[object]:
        (source,) = positions_of(load_set("iqblock")).sources(3, seed).values()
        return [c.challenge.given for c in islice(source, 20) if c]

    assert first(1) == first(1)
    assert first(1) != first(2)


def test_a_spent_budget_ends_the_listing() -> None:
    fit = load_set("iqfit")
    board = fit.boards[0]
    encoded = to_exact_cover(fit, Challenge("board", board.cells, tuple(p.id for p in fit.pieces)))
    with pytest.raises(BudgetSpentError):
        StartingPositions(encoded, Budget(0))


# --- levels
# ----------------------------------------------------------------------------------------


def test_shares_are_even_as_far_as_they_can_be() -> None:
    rng = random.Random(5)
    for _ in range(300):
        most = {name: rng.choice([0, 1, 3, 7, 40]) for name in LEVELS}
        count = rng.randint(1, 60)
        shares = even_shares(count, most)
        assert list(shares) == list(most)
        assert all(0 <= shares[level] <= most[level] for level in most)
        assert sum(shares.values()) == min(count, sum(most.values()))
        free = [shares[level] for level in most if shares[level] < most[level]]
        assert max(shares.values()) <= (min(free) + 1 if free else max(most.values()))


def test_levels_are_chosen_evenly() -> None:
    stars = load_set("iqstars")
    sources = positions_of(stars).sources(None, 4).values()
    gathered = grade_candidates(stars, sources, 12, ("junior", "expert"), Budget())
    assert [one.level for one in gathered.graded] == ["junior"] * 6 + ["expert"] * 6
    assert (gathered.exhausted, gathered.spent) == (False, False)
    scores = [one.score for one in gathered.graded]
    assert scores == sorted(scores)
    (rest,) = positions_of(stars).sources(1, 4).values()  # there are 32 of them
    gathered = grade_candidates(stars, [rest], 99, LEVELS, Budget())
    assert (gathered.exhausted, len(gathered.graded)) == (True, 32)
    counts = Counter(graded.level for graded in gathered.graded)
    assert counts.keys() == {"expert", "master"}


def test_what_was_found_in_time_is_kept() -> None:
    stars = load_set("iqstars")
    sources = positions_of(stars).sources(None, 4).values()
    progress: list[float] = []
    budget = Budget(0.3, lambda share, _: progress.append(share))
    gathered = grade_candidates(stars, sources, 10_000, LEVELS, budget)
    assert gathered.spent
    assert 0 <= len(gathered.graded) < 10_000
    assert progress == sorted(progress)
