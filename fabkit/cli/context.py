"""Commands, the options they share, and what these resolve to: set, profile, folder, report."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, dataclass_transform

from fabkit.cli.options import argument, flag, folder, option, read_value
from fabkit.cli.report import Report
from fabkit.core.errors import escape
from fabkit.core.signals import cleanup_on_signal
from fabkit.core.units import format_duration
from fabkit.model.puzzle import PuzzleSet
from fabkit.profiles.profile import Profile
from fabkit.profiles.profile_file import layer_names, load_profile
from fabkit.sets.library import load_set, shipped_names

if TYPE_CHECKING:
    from fabkit.build.artifacts import Artifacts

#: The exit code when a check fails or there is no solution.
FAILURE_EXIT = 1
#: Completes "CHALLENGE ...".
OUT_OF_TIME = "was not solved within the time limit (--budget)"
#: The help of ``-s``.
SETTINGS_HELP = (
    'Override a profile value, such as "unit=15 mm" (repeatable, takes precedence over -p).'
)


@dataclass_transform()
class _Defaults:
    """The values of shared options that a command does not have. Subclasses are dataclasses."""

    set: str = ""
    output: Path | None = None
    pieces: Sequence[str] = ()
    profiles: Sequence[str] = ()
    settings: Sequence[str] = ()
    force: bool = False

    def __init_subclass__(cls, kw_only: bool = False) -> None:
        super().__init_subclass__()
        dataclass(kw_only=kw_only)(cls)


def default_folder(name: str) -> Path:
    """Return a folder below ``output``; refuse it if a file is in its way."""
    path: Path = read_value(folder, str(Path("output") / name), "the output folder")
    return path


class Command(_Defaults, kw_only=True):
    """A command: its fields are options and arguments, its docstring is its help.

    The help lists arguments and options of its own first, then those of its bases, the last base
    first.
    """

    json: bool = flag("--json", "Print one JSON document to standard output.", panel="Reporting")
    quiet: bool = flag("-q --quiet", "Print errors only.", panel="Reporting")
    verbose: bool = flag("-v --verbose", "Print details.", panel="Reporting")
    #: The start by the monotonic clock: a time limit includes reading.
    begin: float = field(init=False, default_factory=time.monotonic)

    def run(self) -> int | None:
        """Run the command; return its exit code if that may be other than 0."""
        raise NotImplementedError

    @cached_property
    def report(self) -> Report:
        """The printer of output."""
        return Report(self.json, self.quiet, self.verbose)

    @cached_property
    def puzzle(self) -> PuzzleSet:
        """The puzzle set."""
        puzzle = load_set(self.set)
        self.report.warn(*puzzle.notes)
        return puzzle

    @cached_property
    def profile(self) -> Profile:
        """The effective profile; options override the set's own defaults."""
        set_values = self.puzzle.profile_values if self.set else {}
        return load_profile(self.profiles, self.settings, set_values)

    @cached_property
    def folder(self) -> Path:
        """The output folder: that of ``-o``, else ``output/SET``."""
        return self.output or default_folder(self.puzzle.name)

    @cached_property
    def artifacts(self) -> Artifacts:
        """The drawings, solids and meshes of what is printed, each made once by a command."""
        from fabkit.build.export import artifacts_in

        return artifacts_in(self.folder, self.puzzle, self.profile, self.pieces)

    @property
    def elapsed(self) -> str:
        """The time since the command began, in parentheses."""
        seconds = time.monotonic() - self.begin
        return f"({seconds:.1f} s)" if seconds < 60 else f"({format_duration(seconds)})"

    def options(self, names: str) -> dict[str, object]:
        """Return values by option, as it is written; names are given as in ``csv resume``."""
        return {f"--{name.replace('_', '-')}": getattr(self, name) for name in names.split()}

    def resumable(self) -> AbstractContextManager[None]:
        """On a signal, report that finished files are kept; for the later steps of a command."""
        kept = escape(str(self.folder))
        message = f"stopped; finished files are kept in {kept}; run the same command to continue"
        return cleanup_on_signal(lambda: message)


class OfSet(Command):
    """A command with a set."""

    set: str = argument(
        "SET", "A shipped set (see `fabkit sets`) or a TOML file.", ..., complete=shipped_names
    )


class WithOutput(Command, kw_only=True):
    """A command with ``-o``, the folder of a set's files."""

    output: Path | None = option("-o --output DIR", "Output folder (default: output/SET).")


class WithPieces(Command, kw_only=True):
    """A command with ``--piece``."""

    pieces: list[str] = option("--piece ID", "Only this piece (repeatable).", ())


class WithProfiles(Command, kw_only=True):
    """A command with ``-p``."""

    profiles: list[str] = option(
        "-p --profile NAME|FILE",
        "A print profile (see `fabkit profiles`) or a TOML file (repeatable, later ones win).",
        (),
        complete=layer_names,
    )


class WithSettings(WithProfiles, kw_only=True):
    """A command with ``-p`` and ``-s``."""

    settings: list[str] = option("-s --set KEY=VALUE", SETTINGS_HELP, ())


class WithForce(Command, kw_only=True):
    """A command with ``--force``."""

    force: bool = flag("--force", "Rebuild everything and overwrite foreign or edited files.")


class WithBudget(Command, kw_only=True):
    """A command with ``--budget``, for each challenge."""

    budget_s: float = option("--budget SECONDS", "Time limit per challenge (default: 60).", 60.0)


class Printing(WithSettings, WithOutput, OfSet):
    """A command that writes a set's files into its folder."""
