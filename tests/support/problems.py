"""Exact cover problems: random ones, small enough for the reference engine, and hard ones."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

from hypothesis import strategies as st

from fabkit.sets.library import load_set
from fabkit.solve.encoding import to_exact_cover
from fabkit.solve.exact_cover import ExactCoverProblem, Option

#: How the copies of a kind may be used: one by one, or several by one option.
_USES = [(1,), (1, 1), (2,), (1, 1, 1), (2, 1), (3,)]


@st.composite
def _planted(draw: st.DrawFn) -> ExactCoverProblem:
    """A problem with a solution, among other options."""
    uses = draw(st.lists(st.sampled_from(_USES), max_size=5))
    planned = [(kind, copies) for kind, use in enumerate(uses) for copies in use]
    sizes = [draw(st.integers(1, 2)) for _ in planned]
    bare = draw(st.integers(0, 2))
    cells = draw(st.permutations(range(sum(sizes) + bare)))
    options = set()
    for (kind, copies), size in zip(planned, sizes, strict=True):
        covered, cells = cells[:size], cells[size:]
        options.add(Option(kind, tuple(sorted(covered)), copies))
    count = sum(sizes) + bare
    copies_of = tuple(map(sum, uses))
    options |= draw(_options(count, len(uses)))
    closed = draw(st.sets(st.integers(0, count - 1), max_size=2)) if count else set()
    problem = ExactCoverProblem(count, copies_of, tuple(sorted(options)))
    return _with_open_cells(problem, bare, closed.difference(cells))


@st.composite
def _blind(draw: st.DrawFn) -> ExactCoverProblem:
    """A problem that has solutions by chance only."""
    count = draw(st.integers(0, 10))
    copies = draw(st.lists(st.integers(1, 3), max_size=5).map(tuple))
    problem = ExactCoverProblem(count, copies, tuple(sorted(draw(_options(count, len(copies))))))
    return _with_open_cells(problem, draw(st.integers(0, 2)))


def _with_open_cells(
    problem: ExactCoverProblem, open_count: int, closed: AbstractSet[int] = frozenset()
) -> ExactCoverProblem:
    """The problem with so many cells open, none of those that are closed."""
    if not open_count:
        return problem
    kind = problem.kind_count
    open_cells = [cell for cell in range(problem.cell_count) if cell not in closed]
    return replace(
        problem,
        copies=(*problem.copies, open_count),
        options=(*problem.options, *(Option(kind, (cell,)) for cell in open_cells)),
        symmetries=(),
        open_cells=True,
    )


def _options(cell_count: int, kinds: int) -> st.SearchStrategy[set[Option]]:
    if not cell_count or not kinds:
        return st.just(set())
    cells = st.sets(st.integers(0, cell_count - 1), min_size=1, max_size=4)
    return st.sets(
        st.builds(
            Option,
            st.integers(0, kinds - 1),
            cells.map(lambda chosen: tuple(sorted(chosen))),
            st.sampled_from([1, 1, 1, 2, 3]),
        ),
        max_size=12,
    )


@st.composite
def _strip(draw: st.DrawFn) -> ExactCoverProblem:
    """Bars on a strip of cells: many solutions, until options are taken away."""
    bars = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 2)), min_size=1, max_size=4))
    copies = tuple(count for _, count in bars)
    open_count = draw(st.integers(0, 1))
    count = min(10, sum(length * count for length, count in bars) + open_count)
    options = [
        Option(kind, tuple(range(start, start + length)))
        for kind, (length, _) in enumerate(bars)
        for start in range(count - length + 1)
    ]
    gone = draw(st.sets(st.sampled_from(options), max_size=4)) if options else set()
    problem = ExactCoverProblem(count, copies, tuple(sorted({*options} - gone)))
    return _with_open_cells(problem, open_count)


def problems() -> st.SearchStrategy[ExactCoverProblem]:
    """Random problems: some 10 cells, up to 5 kinds of up to 3 copies, some cells open or none."""
    return st.one_of(_planted(), _strip(), _blind())


@st.composite
def choices_of_pieces(draw: st.DrawFn) -> ExactCoverProblem:
    """A problem that uses only some of its pieces: others are as good, or do not fit at all."""
    problem = draw(st.one_of(_planted(), _strip()))
    more = draw(_options(problem.cell_count, 2))
    others = {replace(option, kind=option.kind + problem.kind_count) for option in more}
    copies = (*problem.copies, 1, 2)
    used = draw(st.integers(max(0, sum(problem.copies) - 2), sum(problem.copies) + 1))
    options = tuple(sorted({*problem.options, *others}))
    return ExactCoverProblem(problem.cell_count, copies, options, pieces_count=used)


def dominoes(side: int) -> ExactCoverProblem:
    """A square to be covered with dominoes, all alike."""
    cells = [(row, col) for row in range(side) for col in range(side)]
    number = {cell: index for index, cell in enumerate(cells)}
    pairs = [
        (number[cell], number[beside])
        for cell in cells
        for beside in ((cell[0], cell[1] + 1), (cell[0] + 1, cell[1]))
        if beside in number
    ]
    options = tuple(Option(0, pair) for pair in sorted(pairs))
    return ExactCoverProblem(len(cells), (len(cells) // 2,), options)


def pigeons(holes: int) -> ExactCoverProblem:
    """One pigeon more than holes: proofs by clauses grow exponentially."""
    options = tuple(Option(bird, (hole,)) for bird in range(holes + 1) for hole in range(holes))
    return ExactCoverProblem(holes, (1,) * (holes + 1), options)


def impossible_rectangle() -> ExactCoverProblem:
    """FridgeIQ's ``rectangle_02_b``: the area is right, and still there is no solution."""
    fridge = load_set("fridgeiq")
    challenge = next(one for one in fridge.challenges if one.id == "rectangle_02_b")
    return to_exact_cover(fridge, challenge).problem
