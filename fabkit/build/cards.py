"""Challenge cards of starting positions, and of any other challenge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabkit.build.reports import write_contents
from fabkit.build.targets import OutputPath, Target, build
from fabkit.core.errors import InputError, escape, join_names
from fabkit.core.progress import Progress, counted, no_progress
from fabkit.drawing.boards.csg import BoardDrawing
from fabkit.drawing.boards.draft import draft_card
from fabkit.drawing.outline import DrawingError
from fabkit.model.puzzle import Board, Challenge, Entry, PuzzleSet, default_board
from fabkit.output.card import Card, card_sheets, card_svg
from fabkit.profiles.profile import Profile
from fabkit.puzzles.entries import Selection, gather, refuse_unknown_ids, stated_and_generated
from fabkit.sets.catalog import shipped_entries
from fabkit.sets.challenge_file import read_challenges
from fabkit.sets.challenges import one_lattice
from fabkit.sets.library import set_argument


def starting_positions(puzzle: PuzzleSet, file: Path | None, folder: Path) -> list[Entry]:
    """Return the starting positions of a set or file.

    Args:
        file: a challenge file, a list as `fabkit challenges` writes it, or a catalog; None for the
            set's own challenges, and the list in its output folder if there is one.

    Returns:
        The challenges with given pieces or clues; all challenges of a file without any.

    Raises:
        InputError: when a file cannot be read, or no challenge of the set has given pieces.
    """
    if file is not None:
        entries = read_challenges(file, puzzle)
        return [entry for entry in entries if entry.kind == "start"] or entries
    starts = [entry for entry in stated_and_generated(puzzle, folder) if entry.kind == "start"]
    starts = starts or shipped_entries(puzzle, "start")
    if not starts:
        # On an optional board not all pieces need to have room.
        generate = f"generate some with `fabkit challenges {set_argument(puzzle)}`, or "
        generate = generate if default_board(puzzle.boards) else ""
        raise InputError.of(puzzle.name, f"has no starting positions; {generate}name a challenge")
    return starts


def cards_for(
    puzzle: PuzzleSet,
    names: Sequence[str],
    file: Path | None,
    folder: Path,
    count: int | None = None,
) -> list[Card]:
    """Return a card for each named challenge, or for each starting position, numbered.

    Args:
        names: challenges of the set, its catalog, or the file; all starting positions when empty.
        file: see `starting_positions`.
        count: the maximum number of cards; None for all.

    Raises:
        InputError: when there is no such challenge, or it uses two lattices.
    """
    source = puzzle.name if file is None else escape(str(file))
    if not names:
        entries = starting_positions(puzzle, file, folder)
    elif file is None:
        entries = gather(puzzle, Selection(only=tuple(names)), folder)
    else:
        of_file = read_challenges(file, puzzle)
        refuse_unknown_ids(names, [entry.challenge.id for entry in of_file])
        entries = [entry for entry in of_file if entry.challenge.id in names]
    cards = []
    for number, entry in enumerate(entries[:count], start=1):
        challenge = one_lattice(entry, source, "its result")
        cards.append(Card(challenge, _board(puzzle, challenge), number, entry.level, entry.score))
    return cards


def write_cards(
    folder: Path,
    puzzle: PuzzleSet,
    cards: Sequence[Card],
    profile: Profile,
    templates: bool = True,
    progress: Progress = no_progress,
    force: bool = False,
) -> tuple[list[str], list[str]]:
    """Write cards into an output folder: ``cards/ID.svg``, ``cards/ID.stl`` and whole sheets.

    Args:
        templates: whether the raised templates are made.

    Returns:
        The names of the files, and warnings.

    Raises:
        InputError: when the profile does not suit the templates, or a file is not fabkit's.
        ExternalError: when the folder is in use or cannot be written, or the CAD kernel fails.
    """
    sheets = card_sheets(puzzle, cards, profile)
    stem = _free_stem([card.challenge.id for card in cards])
    contents = {f"cards/{card.challenge.id}.svg": card_svg(puzzle, card, profile) for card in cards}
    contents |= {f"cards/{stem}-{n}.svg": sheet for n, sheet in enumerate(sheets, start=1)}
    warnings = [] if sheets else ["the cards are larger than A4, so there are no sheets"]
    drawings = _templates(puzzle, cards, profile, warnings) if templates else []

    def write(output_path: OutputPath) -> None:
        from fabkit.solid.builder import build_solid
        from fabkit.solid.export import write_stl

        write_contents(contents, output_path)
        for done, drawing in enumerate(drawings):
            name = f"cards/{drawing.piece}.stl"
            counted(progress, done, len(drawings), name)
            write_stl(build_solid(drawing), output_path(name))

    built = build(folder, puzzle.name, [Target(("cards/",), "", write)], force)
    return list(built.files), [*warnings, *built.warnings]


def _free_stem(ids: Sequence[str]) -> str:
    """A prefix for the names of sheets that no card has."""
    stem = "cards"
    while any(card_id.lower().startswith(f"{stem}-") for card_id in ids):
        stem += "-all"
    return stem


def _templates(
    puzzle: PuzzleSet, cards: Sequence[Card], profile: Profile, warnings: list[str]
) -> list[BoardDrawing]:
    """The drawings of the templates; cards that cannot have one are named in `warnings`.

    Raises:
        InputError: when the only card cannot have one.
    """
    drawings = []
    lacking: dict[str, list[str]] = {}
    for card in cards:
        try:
            drawings.append(draft_card(puzzle, card.board, card.challenge, profile))
        except DrawingError as fault:
            if len(cards) == 1:
                where = f"{puzzle.name} {card.challenge.id} with profile {profile.name}"
                raise InputError.of(
                    where, f"{fault}; or omit the template: --no-templates"
                ) from None
            lacking.setdefault(str(fault), []).append(card.challenge.id)
    for reason, ids in lacking.items():
        warnings.append(f"{join_names(ids)}: no raised template, since {reason}")
    return drawings


def _board(puzzle: PuzzleSet, challenge: Challenge) -> Board:
    """Return the board that a challenge fills, or its region as a board of its own."""
    for board in puzzle.boards:
        if board.cells == challenge.board_cells:
            return board
    return Board(challenge.id, challenge.board_cells)
