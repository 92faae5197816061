"""What is open in the studio, and how the browser's calls reach functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.core.errors import ErrorDetail, InputError
from fabkit.core.parsing import parse_toml
from fabkit.profiles.profile_form import ProfileForm
from fabkit.sets.library import shipped_folder, shipped_names

if TYPE_CHECKING:
    from fabkit.model.puzzle import Challenge, PuzzleSet
    from fabkit.profiles.profile import Profile

#: What a call tells the browser while it runs; see `fabkit.studio.workers.Worker.call`.
Event = dict[str, Any]
Emit = Callable[[Event], None]
#: Puzzle sets that are kept as read, per process.
_KEPT = 8


@dataclass(frozen=True)
class Project:
    """A set file and a profile, as they are in the browser, whether saved or not.

    Attributes:
        name: name of the set file; SVG files that the set names are beside it in `folder`.
        text: content of the set file.
        folder: the working folder.
        layers, settings: of the profile; see `ProfileForm`.
        room: a folder for files that are made for the browser.
    """

    name: str
    text: str
    folder: Path
    layers: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    room: Path = Path()

    @property
    def puzzle(self) -> PuzzleSet:
        """The puzzle set.

        Raises:
            InputError: with every error in the text.
        """
        if isinstance(self._puzzle, InputError):
            raise self._puzzle.with_traceback(None)
        return self._puzzle

    @cached_property
    def _puzzle(self) -> PuzzleSet | InputError:
        # SVG files that it names may change meanwhile.
        read = set_or_error.__wrapped__ if "svg" in self.text else set_or_error
        return read(self.name, self.text, self.folder)

    def challenge(self, name: str = "") -> Challenge:
        """Return a challenge by name.

        By default, it is the set's first board that is not optional, else its first challenge or
        board.

        Raises:
            InputError: when there is none.
        """
        from fabkit.model.puzzle import default_board
        from fabkit.sets.challenges import find_challenge

        puzzle = self.puzzle
        if not name and not default_board(puzzle.boards):
            names = [part.id for part in puzzle.challenges] + [part.id for part in puzzle.boards]
            name = names[0] if names else ""
        return find_challenge(puzzle, name or None)

    @cached_property
    def form(self) -> ProfileForm:
        """What is chosen for the profile.

        Raises:
            InputError: with every error in the set.
        """
        return ProfileForm(self.layers, self.settings, self.puzzle.profile_values)

    @property
    def profile(self) -> Profile:
        """The effective profile.

        Raises:
            InputError: with every error in the settings, or in the set.
        """
        return self.form.profile


@lru_cache(_KEPT)
def parsed(text: str) -> dict[str, Any]:
    """Return what a text parses to; see `parse_toml`."""
    return parse_toml(text, "")


@lru_cache(_KEPT)
def set_or_error(name: str, text: str, folder: Path) -> PuzzleSet | InputError:
    """Return the set of a text, or its error."""
    from fabkit.sets.set_file import read_set

    is_shipped = Path(name).stem in shipped_names() and not (folder / name).exists()
    path = (shipped_folder() if is_shipped else folder) / name
    try:
        return read_set(path, name, text, parsed(text))
    except InputError as error:
        return InputError(name, error.errors, error.omitted)


def call_checked(function: Callable[..., Any], arguments: Mapping[str, Any], **given: Any) -> Any:
    """Call a function with the browser's arguments, if these have the types of its parameters.

    Args:
        given: further arguments, which the browser cannot choose.

    Raises:
        InputError: when an argument is missing, unknown or of another type.
    """
    from pydantic import ConfigDict, ValidationError, validate_call

    checked = validate_call(config=ConfigDict(arbitrary_types_allowed=True))(function)
    try:
        return checked(**{**arguments, **given})
    except ValidationError as error:
        if error.title != checked.__qualname__:  # of a document within
            raise
        details = [
            ErrorDetail(".".join(map(str, problem["loc"])), problem["msg"])
            for problem in error.errors(include_url=False, include_context=False)
        ]
        raise InputError("request", details) from None
