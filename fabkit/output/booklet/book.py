"""The booklet: cover, guide, pieces, challenges, and their solutions at the back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reportlab.platypus import Flowable, NextPageTemplate, PageBreak

from fabkit.core.errors import InputError, escape, join_names, no_such, pluralize
from fabkit.drawing.draft import FlatDrawing, draft_all, draft_flat_piece
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.booklet.challengepages import (
    full_size_challenges,
    play_challenges,
    required_size_mm,
    solutions,
)
from fabkit.output.booklet.frontmatter import cover_page, guide
from fabkit.output.booklet.layout import (
    MARGIN_MM,
    BookletDocument,
    BookletSpec,
)
from fabkit.output.booklet.paper import PAPERS, choose_paper
from fabkit.output.booklet.piecepages import full_size_pieces, piece_overview
from fabkit.output.i18n import format_count, load_messages
from fabkit.output.numbering import number_challenges
from fabkit.output.theme import missing_glyphs_note
from fabkit.profiles.profile import Profile

#: The editions of a booklet; the first is the default.
EDITIONS = ("play", "full-size")
#: About how many pages challenges and solutions take together in the edition ``play``.
_MAX_PAGES = 56


@dataclass(frozen=True)
class Booklet:
    """A booklet.

    Attributes:
        paper: one of `fabkit.output.booklet.paper.PAPERS`.
        sheets: number of sheets to fold; 0 when it is not folded.
        notes: remarks for the user, in sentences.
        challenges: their ids, as passed.
    """

    pdf: bytes
    paper: str
    pages: int
    sheets: int
    notes: tuple[str, ...]
    challenges: tuple[str, ...]


def render_booklet(
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    profile: Profile,
    language: str = "en",
    paper: str | None = None,
    cover: bytes | None = None,
    edition: str = EDITIONS[0],
    fold: bool = False,
    drafts: Sequence[FlatDrawing] | None = None,
) -> Booklet:
    """Render a booklet as PDF; equal arguments give equal bytes.

    In the edition ``play`` several challenges share a page, at one scale where they fit. In
    ``full-size`` every challenge is drawn 1:1, if need be on a larger fold-out page. Only
    challenges too large even for A2 are drawn smaller, and marked.

    Args:
        entries: the set's challenges, each with a solution.
        language: one of `fabkit.output.i18n.LANGUAGES`.
        paper: one of `fabkit.output.booklet.paper.PAPERS`; None selects A5, or for full size the
            smallest that suits most challenges.
        cover: a PNG image for the cover; None draws the pieces.
        edition: one of `EDITIONS`.
        fold: whether to print two pages on each side of a sheet, to be folded in the middle.
        drafts: the drawings of flat pieces; made here by default.

    Raises:
        InputError: when there are no challenges, one has no solution, or none fits on the paper;
            when language, edition or paper is unknown; when the profile does not suit a piece.

    Example:
        >>> from fabkit.sets.library import load_set
        >>> from fabkit.profiles.profile_file import load_profile
        >>> from fabkit.model.entry import entry_of
        >>> from fabkit.model.puzzle import Challenge
        >>> block = load_set("iqblock")
        >>> cells = block.piece("3").forms[0].cells
        >>> entry = entry_of(Challenge("one", cells, ("3",))).with_result(solution={"3": cells})
        >>> made = render_booklet(block, [entry], load_profile())
        >>> made.pdf[:5], made.paper, made.pages
        (b'%PDF-', 'a5', 5)
    """
    messages = load_messages("booklet", language)
    _check_entries(puzzle, entries)
    check_edition(edition, fold)
    numbered = number_challenges(puzzle, entries, messages)
    full = edition == "full-size"
    draft = BookletSpec(puzzle, profile, messages, numbered, PAPERS["a5"], "a5", full)
    needed = [required_size_mm(draft, challenge) for challenge in numbered] if full else []
    name, size, sheet = choose_paper(needed, paper, fold)
    flat = [piece for piece in puzzle.pieces if not piece.body]
    drafts = draft_all(puzzle, flat, profile, draft_flat_piece) if drafts is None else drafts
    spec = replace(draft, size=size, paper=name, drafts=drafts)
    challenges = format_count(messages, "challenges", len(numbered))
    subject = messages["subject_full" if full else "subject_play"].format(challenges=challenges)
    for _ in range(4):  # at most; repeated until all page references are right
        book = BookletDocument(spec, subject, language)
        story, notes = (_full_size_pages if full else _play_pages)(spec, book, cover)
        pdf = book.make(story, sheet)
        if book.places == spec.places:
            break
        spec = replace(spec, places=book.places)
    if spec.missing:
        notes.append(missing_glyphs_note(spec.missing))
    sheets = -(-book.page // 4) if fold else 0
    ids = tuple(entry.challenge.id for entry in entries)
    return Booklet(pdf, name, book.page, sheets, tuple(notes), ids)


def check_edition(edition: str, fold: bool) -> None:
    """Raise an `InputError` when the edition is unknown or cannot be folded."""
    if edition not in EDITIONS:
        raise InputError.of("--edition", no_such("edition", edition, EDITIONS))
    if fold and edition != EDITIONS[0]:
        message = "pages at full size are not folded; omit --fold, or use --edition play"
        raise InputError.of("--fold", message)


def _check_entries(puzzle: PuzzleSet, entries: Sequence[Entry]) -> None:
    """Raise an `InputError` when there are no challenges, or some have no known solution."""
    if not entries:
        remedy = "name some of the set's, or a challenge file"
        raise InputError.of(puzzle.name, f"there are no challenges for a booklet; {remedy}")
    unsolved = [escape(entry.challenge.id) for entry in entries if not entry.solution]
    if unsolved:
        they_have = "it has" if len(unsolved) == 1 else "they have"
        raise InputError.of(
            puzzle.name,
            f"no solution is known of {join_names(unsolved)}, and a booklet shows one of each "
            f"challenge; leave out what {they_have} none of, or solve it first (fabkit solve)",
        )


def _play_pages(
    spec: BookletSpec, book: BookletDocument, picture: bytes | None
) -> tuple[list[Flowable], list[str]]:
    """Return the pages of the edition ``play``, and the notes."""
    challenges, pages, has_smaller = play_challenges(spec)
    how_to_play, guide_mm = guide(spec, (), has_smaller)
    story = [
        *cover_page(spec, picture),
        how_to_play,
        *piece_overview(spec, guide_mm),
        NextPageTemplate("cards"),
        *challenges,
        *solutions(spec, _MAX_PAGES - pages),
    ]
    return story, []


def _full_size_pages(
    spec: BookletSpec, book: BookletDocument, picture: bytes | None
) -> tuple[list[Flowable], list[str]]:
    """Return the pages of the edition ``full-size``, and the notes."""
    book.add_page_size("pieces", spec.size, side_mm=MARGIN_MM)
    challenges, sizes, smaller = full_size_challenges(spec, book)
    pieces, piece_sizes, smaller_pieces = full_size_pieces(spec, book)
    all_sizes = sorted({*sizes, *piece_sizes}, reverse=True)
    smaller += smaller_pieces
    story = [
        *cover_page(spec, picture),
        guide(spec, all_sizes, bool(smaller))[0],
        NextPageTemplate("pieces"),
        PageBreak(),
        *pieces,
        *challenges,
        *solutions(spec),
    ]
    notes = []
    for noun, folded in (("challenge", sizes), ("piece", piece_sizes)):
        if folded:
            has = "has a larger page" if len(folded) == 1 else "have larger pages"
            names = ", ".join(sorted(set(folded), reverse=True))
            notes.append(f"{pluralize(len(folded), noun)} {has} to fold in: {names}")
    if smaller:
        names = join_names([escape(name) for name in smaller])
        verb = "is" if len(smaller) == 1 else "are"
        notes.append(f"{names} {verb} too large for full size and drawn smaller")
    return story, notes
