"""The booklet: cover, guide, pieces, challenges at full size, solutions, index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fabkit.core.errors import InputError, many, name_some, printable
from fabkit.drawing.draft import draft_all
from fabkit.model.entry import Entry
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.booklet.challengepages import ChallengeLeaf, challenge_leaves, room_needed
from fabkit.output.booklet.coverpage import CoverLeaf
from fabkit.output.booklet.guide import guide_leaves
from fabkit.output.booklet.indexpages import index_leaves
from fabkit.output.booklet.items import items_of
from fabkit.output.booklet.leaf import Edition, Leaf, Places, key_of
from fabkit.output.booklet.paper import PAPERS, choose_paper
from fabkit.output.booklet.pdf import PdfBook
from fabkit.output.booklet.piecepages import PieceLeaf, piece_leaves
from fabkit.output.booklet.solutionpages import SolutionLeaf, solution_leaves
from fabkit.output.i18n import counted, load_words
from fabkit.output.theme import missing_note


@dataclass(frozen=True)
class Booklet:
    """A booklet.

    Attributes:
        pdf: the file.
        paper: what its usual page is called, one of `fabkit.output.booklet.paper.PAPERS`.
        pages: how many there are.
        notes: what deserves a look, in sentences.
    """

    pdf: bytes
    paper: str
    pages: int
    notes: tuple[str, ...]


def booklet(
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    profile: Profile,
    language: str = "en",
    paper: str | None = None,
    cover: bytes | None = None,
) -> Booklet:
    """Makes a booklet.

    Every challenge is drawn at full size: on a page like the others, or on a larger one to fold in.
    Only what does not even fit on A2 is drawn smaller, and says so.

    Args:
        puzzle: the set.
        entries: its challenges, each with a solution.
        profile: gives the unit, and the sizes of pieces.
        language: of the texts, one of `fabkit.output.i18n.LANGUAGES`.
        paper: one of `fabkit.output.booklet.paper.PAPERS`; None takes the smallest that suits most
            challenges.
        cover: a PNG picture for the cover; the pieces when None.

    Returns:
        The file and what deserves a look. The same arguments give the same bytes.

    Raises:
        InputError: when there are no challenges, or one has no solution, or when there is no such
            language or paper, or no challenge fits on it, or when the profile does not suit a piece.
        OutsideError: when the fonts or texts that come with fabkit are missing.

    Example:
        >>> from fabkit.model.library import load_set
        >>> from fabkit.model.profilefile import load_profile
        >>> block = load_set("iqblock")
        >>> cells = block.piece("3").forms[0].cells
        >>> one = Entry("one", "One", "challenge", cells, ("3",), solution={"3": cells})
        >>> made = booklet(block, [one], load_profile())
        >>> made.pdf[:5], made.paper
        (b'%PDF-', 'a5')
    """
    words = load_words("booklet", language)
    _refuse(puzzle, entries)
    items = items_of(puzzle, entries, words)
    draft = Edition(puzzle, profile, words, items, PAPERS["a5"], "a5")
    name, size = choose_paper([room_needed(draft, item) for item in items], paper)
    edition = replace(draft, size=size, paper=name)
    leaves, notes = _plan(edition, cover)
    subject = words["subject"].format(challenges=counted(words, "challenges", len(items)))
    book = PdfBook(puzzle.title, subject, language)
    _draw(book, leaves)
    if book.missing:
        notes.append(missing_note(book.missing))
    return Booklet(book.finish(), name, len(leaves), tuple(notes))


def _refuse(puzzle: PuzzleSet, entries: Sequence[Entry]) -> None:
    """Checks that there is something to show, and a solution for all of it.

    Raises:
        InputError: when there is not.
    """
    if not entries:
        message = (
            "there are no challenges for a booklet; name some of the set's, or a challenge file"
        )
        raise InputError.of(puzzle.name, message)
    lacking = [printable(entry.id) for entry in entries if not entry.solution]
    if lacking:
        one = "it has" if len(lacking) == 1 else "they have"
        message = (
            f"no solution is known of {name_some(lacking)}, and a booklet shows one of each challenge; "
            f"leave out what {one} none of, or solve it first (fabkit solve)"
        )
        raise InputError.of(puzzle.name, message)


def _plan(edition: Edition, cover: bytes | None) -> tuple[list[Leaf], list[str]]:
    """All pages in order, and what deserves a look."""
    words, puzzle = edition.words, edition.puzzle
    drafts = draft_all(puzzle, [one for one in puzzle.pieces if not one.body], edition.profile)
    challenges, solutions = challenge_leaves(edition), solution_leaves(edition)
    pieces = piece_leaves(edition, drafts)
    shown: list[ChallengeLeaf | PieceLeaf] = [*challenges, *pieces]
    folded = sorted({leaf.folded for leaf in shown} - {""}, reverse=True)
    scaled = any(leaf.scale != 1 for leaf in shown)
    magnets = any(draft.recesses for draft in drafts)
    leaves: list[Leaf] = [
        CoverLeaf(edition, cover),
        *guide_leaves(edition, magnets, folded, scaled),
        *pieces,
        *_chapter(challenges, words["challenges_heading"]),
        *_chapter(solutions, words["solutions_heading"]),
        *index_leaves(edition),
    ]
    return leaves, _notes(challenges, pieces)


def _chapter(
    leaves: Sequence[ChallengeLeaf | SolutionLeaf], title: str
) -> Iterator[ChallengeLeaf | SolutionLeaf]:
    """The pages, the first of which begins a chapter of the outline."""
    first, *others = leaves
    yield replace(first, marks=((0, title), *first.marks))
    yield from others


def _draw(book: PdfBook, leaves: Sequence[Leaf]) -> None:
    """Draws all pages."""
    numbered = list(enumerate(leaves, start=1))
    places = Places(
        {one: number for number, leaf in numbered for one in leaf.challenges},
        {one: number for number, leaf in numbered for one in leaf.solutions},
    )
    for number, leaf in numbered:
        page = book.add_page(*leaf.size, key_of(number))
        for level, title in leaf.marks:
            book.add_outline(title, level)
        leaf.draw(page, number, places)


def _notes(challenges: Sequence[ChallengeLeaf], pieces: Sequence[PieceLeaf]) -> list[str]:
    """What deserves a look of sizes."""
    notes = []
    shown: tuple[tuple[str, Sequence[ChallengeLeaf | PieceLeaf]], ...]
    shown = (("challenge", challenges), ("piece", pieces))
    for noun, leaves in shown:
        folded = [leaf.folded for leaf in leaves if leaf.folded]
        if folded:
            has = "has a larger page" if len(folded) == 1 else "have larger pages"
            sizes = ", ".join(sorted(set(folded), reverse=True))
            notes.append(f"{many(len(folded), noun)} {has} to fold in: {sizes}")
    names = [item.entry.id for leaf in challenges if leaf.scale != 1 for item in leaf.items]
    names += [f"piece {item.view.caption}" for leaf in pieces if leaf.scale != 1
              for row in leaf.rows for item in row]  # fmt: skip
    if names:
        is_ = "is" if len(names) == 1 else "are"
        told = name_some([printable(name) for name in names])
        notes.append(f"{told} {is_} too large for full size and drawn smaller")
    return notes
