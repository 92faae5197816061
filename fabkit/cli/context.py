"""What every command is handed: which set, how it is printed, where to, and where to report."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import Any

from fabkit.cli import options
from fabkit.cli.options import argument, flag, option
from fabkit.cli.report import Report
from fabkit.core.errors import printable
from fabkit.core.signals import at_stop
from fabkit.model.library import load_set, shipped_names
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile, preset_names
from fabkit.model.puzzle import PuzzleSet

#: When the answer is no: something fails, or there is no solution.
NO_EXIT = 1
#: Why a challenge has no solution to show.
NOT_IN_TIME = "was not solved in time (--budget)"
#: Shared options of commands that print a set into its folder.
PRINTED = ("set", "output", "profiles", "settings")


@dataclass
class Context:
    """What the options that commands share turn into; a command takes those that `takes` names.

    Attributes:
        begin: when the command began, by the monotonic clock: reading files is part of a budget.
    """

    set: str = ""
    output: Path | None = None
    pieces: Sequence[str] = ()
    profiles: Sequence[str] = ()
    settings: Sequence[str] = ()
    force: bool = False
    budget_s: float = 60.0
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    begin: float = field(default_factory=time.monotonic)

    @cached_property
    def report(self) -> Report:
        """Where output goes."""
        return Report(self.json, self.quiet, self.verbose)

    @cached_property
    def puzzle(self) -> PuzzleSet:
        """The set."""
        return load_set(self.set)

    @cached_property
    def profile(self) -> Profile:
        """The effective profile; a set's own unit yields to what the user asks for."""
        unit_mm = self.puzzle.unit_mm if self.set else None
        return load_profile(self.profiles, self.settings, unit_mm)

    @cached_property
    def folder(self) -> Path:
        """The output folder: what ``-o`` names, else ``output/SET``."""
        if self.output is not None:
            return self.output
        folder = Path("output") / self.puzzle.name
        options.refuse_file(folder, "the output folder")
        return folder

    def keeping(self) -> AbstractContextManager[None]:
        """For later steps of a command: when it is stopped, what the earlier ones wrote is there."""
        kept = printable(str(self.folder))
        message = f"stopped; what was finished is kept in {kept}, and the same command goes on"
        return at_stop(lambda: message)


Command = Callable[..., int | None]

#: The shared options, each declared once.
_SHARED: dict[str, tuple[Any, Any]] = {
    "set": (
        str,
        argument(
            "SET", "A shipped set (see `fabkit sets`) or a set's TOML file.", shipped_names, True
        ),
    ),
    "output": (Path | None, option("-o --output DIR", "Output folder (default: output/SET).")),
    "pieces": (list[str], option("--piece ID", "Only this piece; repeatable.", [])),
    "profiles": (
        list[str],
        option(
            "-p --profile NAME|FILE",
            "A print profile (see `fabkit profiles`) or a TOML file; repeatable, later ones win.",
            [],
            complete=preset_names,
        ),
    ),
    "settings": (
        list[str],
        option(
            "-s --set KEY=VALUE",
            'Override a profile value, such as "unit=15 mm"; repeatable, takes precedence.',
            [],
        ),
    ),
    "force": (
        bool,
        flag("--force", "Rebuild files that are up to date, and overwrite files of others."),
    ),
    "budget_s": (
        float,
        option("--budget SECONDS", "Time limit per challenge (default: 60).", 60.0),
    ),
    "json": (bool, flag("--json", "Print one JSON document to standard output.", "Reporting")),
    "quiet": (bool, flag("-q --quiet", "Print errors only.", "Reporting")),
    "verbose": (bool, flag("-v --verbose", "Print details.", "Reporting")),
}


def takes(*shared: str) -> Callable[[Command], Command]:
    """Gives a command shared options, by their names in `Context`, and those on reporting.

    The command is written with a `Context` first, then its own options; it is called with the
    shared argument first, its own ones, then shared options.
    """
    names = [*shared, "json", "quiet", "verbose"]
    kind = inspect.Parameter.KEYWORD_ONLY

    def decorate(command: Command) -> Command:
        _, *own = inspect.signature(command, eval_str=True).parameters.values()
        own = [one.replace(kind=kind) for one in own]
        given = {
            name: inspect.Parameter(
                name, kind, annotation=_SHARED[name][0], default=_SHARED[name][1]
            )
            for name in names
        }

        @wraps(command)
        def run(**values: Any) -> int | None:
            return command(Context(**{name: values.pop(name) for name in names}), **values)

        first = [given.pop("set")] if "set" in given else []
        every = [*first, *own, *given.values()]
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in every}
        return run

    return decorate
