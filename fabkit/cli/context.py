"""The options that commands share, and what they resolve to: set, profile, folder, report."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from fabkit.cli import options
from fabkit.cli.options import argument, flag, option
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
#: The shared options of commands that write a set's files into its folder.
PRINT_OPTIONS = ("set", "output", "profiles", "settings")
#: The help of ``-s``.
SETTINGS_HELP = (
    'Override a profile value, such as "unit=15 mm" (repeatable, takes precedence over -p).'
)


@dataclass
class Context:
    """The values of shared options; `with_options` selects those of a command.

    Attributes:
        begin: the start of the command, by the monotonic clock: a time limit includes reading.
    """

    set: str = ""
    output: Path | None = None
    pieces: list[str] = field(default_factory=list)
    profiles: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    force: bool = False
    budget_s: float = 60.0
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    begin: float = field(default_factory=time.monotonic)

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
        if self.output is not None:
            return self.output
        folder = Path("output") / self.puzzle.name
        options.refuse_file(folder, "the output folder")
        return folder

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

    def resumable(self) -> AbstractContextManager[None]:
        """On a signal, report that finished files are kept; for the later steps of a command."""
        kept = escape(str(self.folder))
        message = f"stopped; finished files are kept in {kept}; run the same command to continue"
        return cleanup_on_signal(lambda: message)


Command = Callable[..., int | None]

_OPTION_TYPES = get_type_hints(Context)
#: The shared options, each declared once; their types are those of `Context`.
_SHARED_OPTIONS: dict[str, Any] = {
    "set": argument(
        "SET", "A shipped set (see `fabkit sets`) or a TOML file.", shipped_names, required=True
    ),
    "output": option("-o --output DIR", "Output folder (default: output/SET)."),
    "pieces": option("--piece ID", "Only this piece (repeatable).", []),
    "profiles": option(
        "-p --profile NAME|FILE",
        "A print profile (see `fabkit profiles`) or a TOML file (repeatable, later ones win).",
        [],
        complete=layer_names,
    ),
    "settings": option("-s --set KEY=VALUE", SETTINGS_HELP, []),
    "force": flag("--force", "Rebuild everything and overwrite foreign or edited files."),
    "budget_s": option("--budget SECONDS", "Time limit per challenge (default: 60).", 60.0),
    "json": flag("--json", "Print one JSON document to standard output.", "Reporting"),
    "quiet": flag("-q --quiet", "Print errors only.", "Reporting"),
    "verbose": flag("-v --verbose", "Print details.", "Reporting"),
}


def with_options(*shared: str) -> Callable[[Command], Command]:
    """Add shared options to a command, by their names in `Context`, and those on reporting.

    The command is defined with a `Context` and its own options. Its help lists the set first, then
    its own options, then the shared ones.
    """
    names = [*shared, "json", "quiet", "verbose"]
    kind = inspect.Parameter.KEYWORD_ONLY

    def decorate(command: Command) -> Command:
        _, *own = inspect.signature(command, eval_str=True).parameters.values()
        own = [parameter.replace(kind=kind) for parameter in own]
        given = {
            name: inspect.Parameter(
                name, kind, annotation=_OPTION_TYPES[name], default=_SHARED_OPTIONS[name]
            )
            for name in names
        }

        @wraps(command)
        def run(**values: Any) -> int | None:
            return command(Context(**{name: values.pop(name) for name in names}), **values)

        first = [given.pop("set")] if "set" in given else []
        parameters = [*first, *own, *given.values()]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate
