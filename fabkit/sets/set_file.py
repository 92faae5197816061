"""Read a set file: TOML in, a `PuzzleSet` out, or all its errors at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabkit.core.documents import read_document
from fabkit.core.errors import ErrorList, InputError, escape, quote
from fabkit.core.hashes import digest
from fabkit.core.lines import located
from fabkit.core.parsing import parse_toml, read_text
from fabkit.model.lattice import LATTICES
from fabkit.model.piece import DARK
from fabkit.model.puzzle import MOVES, Board, PuzzleSet, Result
from fabkit.profiles.profile_file import BY_KEY, RENAMED, load_profile, table_values
from fabkit.sets.board_reader import read_board, with_board_clues
from fabkit.sets.challenge_reader import ChallengeReader
from fabkit.sets.cut_reader import read_cut
from fabkit.sets.family_reader import read_family
from fabkit.sets.piece_reader import PieceReader, read_looks
from fabkit.sets.regions import RegionReader
from fabkit.sets.set_checks import (
    area_errors,
    duplicate_challenge_ids,
    duplicate_part_ids,
    shared_names,
    small_boards,
    unlike_blockers,
)
from fabkit.sets.set_tables import MOST_PIECES, SetFile
from fabkit.sets.svg import SvgFolder

#: The table of a set's own defaults of the profile.
_PROFILE = "profile"


def read_set(
    path: Path,
    source: str | None = None,
    text: str | None = None,
    document: Mapping[str, Any] | None = None,
) -> PuzzleSet:
    """Read a set file; the SVG files it names are beside it.

    Args:
        source: the file's name in messages; the path itself when None.
        text: read in place of the file's content; the file need not exist then.
        document: what the text parses to, if it has been parsed.

    Raises:
        InputError: with every error in the file.
    """
    name = source or escape(str(path))
    errors = ErrorList(name)
    if text is None:
        text = read_text(path, name, "a TOML file")
    keys = [f"{_PROFILE}.{key}" for key in BY_KEY]
    renamed = {f"{_PROFILE}.{old}": new for old, new in RENAMED.items()}
    with located(text, name, document):
        document = parse_toml(text, name) if document is None else document
        file = read_document(SetFile, document, errors, keys, renamed)
        if file:
            puzzle = _SetReader(file, document, errors, path.parent).read(text)
        errors.raise_if_any()
    return puzzle


class _SetReader:
    """Checks and converts a set file's sound tables; `document` has all of them."""

    def __init__(
        self, file: SetFile, document: Mapping[str, Any], errors: ErrorList, folder: Path
    ) -> None:
        self.file = file
        self.document = document
        self.errors = errors
        self.lattice = LATTICES[file.set.lattice]
        self.values = _profile_values(file, errors)
        self.drawings = SvgFolder(folder)
        unit_mm = self.values.get("unit_mm")
        self.regions = RegionReader(self.lattice, errors, self.drawings, unit_mm)

    def read(self, text: str) -> PuzzleSet:
        """Return the set of a file's text; usable only if there are no errors."""
        file, errors = self.file, self.errors
        puzzle = self._with_challenges(self._parts(text))
        errors.extend(small_boards(file, puzzle))
        if not errors.count:
            errors.extend(unlike_blockers(file, puzzle))
        errors.extend(duplicate_part_ids(file, puzzle))
        errors.extend(duplicate_challenge_ids(file))
        if not errors.count:
            errors.extend(shared_names(file, puzzle))
        if not errors.count:
            errors.extend(area_errors(file.set, puzzle.area))
        return puzzle

    def _parts(self, text: str) -> PuzzleSet:
        """Return the set with its pieces and boards, which have no clues yet."""
        file, head = self.file, self.file.set
        looks = read_looks(head, self.lattice, self.errors)
        if not self.document.get("piece") and "cut" not in self.document:
            message = "there are no pieces; add one with [[piece]], or draw all of them in [cut]"
            self.errors.add("piece", message)
        reader = PieceReader(head, looks, self.regions)
        pieces = [
            piece for index, table in enumerate(file.piece) for piece in reader.pieces(table, index)
        ]
        boards: list[Board] = []
        if file.cut is not None:
            cut_pieces, boards = read_cut(file.cut, reader, len(file.piece))
            pieces += cut_pieces
        if len(pieces) > MOST_PIECES:
            limit = f"at most {MOST_PIECES} are allowed"
            self.errors.add("piece", f"defines {len(pieces)} pieces, counting copies; {limit}")
        boards += [read_board(table, self.regions) for table in file.board]
        old_name, name = map(quote, (self.document["set"]["lattice"], self.lattice.name))
        note = f"{old_name} is now called {name}; write lattice = {name}"
        notes = (f"{self.errors.source}: set.lattice: {note}",) if old_name != name else ()
        digests = [hashlib.sha256(text.encode()).hexdigest(), *self.drawings.digests]
        return PuzzleSet(
            name=head.name,
            title=head.title or head.name,
            lattice=self.lattice,
            flips=head.moves == MOVES[1],
            profile_values=self.values,
            pieces=tuple(pieces),
            boards=tuple(boards),
            challenges=(),
            source=self.errors.source,
            digest=digest(*digests) if len(digests) > 1 else digests[0],
            marks=looks | ({DARK: head.chequer} if head.chequer_is_rule else {}),
            group=head.group,
            credit=head.source,
            licence=head.licence,
            notes=notes,
        )

    def _with_challenges(self, puzzle: PuzzleSet) -> PuzzleSet:
        """Return the set with clues, challenges, families, which name marks, pieces and boards."""
        file = self.file
        cut_boards = len(puzzle.boards) - len(file.board)
        are_all_sound = isinstance(file.set.marks, dict) and cut_boards == (file.cut is not None)
        for key, tables in (("piece", file.piece), ("board", file.board)):
            are_all_sound &= len(tables) == len(self.document.get(key, ()))
        if not are_all_sound:
            file.challenge = []
            return puzzle
        puzzle = with_board_clues(puzzle, [*[None] * cut_boards, *file.board], self.regions)
        reader = ChallengeReader(puzzle, self.regions)
        entries = [reader.read(table) for table in file.challenge]
        families = [read_family(table, reader.parts) for table in file.family]
        return replace(
            puzzle,
            families=tuple(family for family in families if family is not None),
            challenges=tuple(entry.challenge for entry in entries),
            entries=tuple(entry for entry in entries if entry.result != Result()),
        )


def _profile_values(file: SetFile, errors: ErrorList) -> dict[str, Any]:
    """Return the set's own defaults of the profile: its unit, and its table."""
    head = file.set
    unit = {} if head.unit is None else {"unit_mm": head.unit}
    if file.profile is None:
        return unit
    values: dict[str, Any] = {"title": f"as {head.name} is made by default"}
    values |= unit | table_values(file.profile)
    if unit and values["unit_mm"] != head.unit:
        errors.add(f"{_PROFILE}.unit", "differs from set.unit; write only one of them")
    try:
        load_profile(set_values=values)
    except InputError as error:
        for detail in error.errors:
            errors.add(f"{_PROFILE}.{detail.key}", detail.message)
    return values
