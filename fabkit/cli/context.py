"""What every command is handed: which set, how it is printed, where to, and where to report."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from fabkit.cli import options
from fabkit.cli.options import argument, option
from fabkit.cli.report import Report
from fabkit.core.errors import printable
from fabkit.core.signals import at_stop
from fabkit.model.library import load_set, shipped_names
from fabkit.model.profile import Profile
from fabkit.model.profilefile import load_profile, preset_names
from fabkit.model.puzzle import PuzzleSet

#: When the answer is no: something fails, or there is no solution.
NO_EXIT = 1
#: Shared options of commands that print a set into its folder.
PRINTED = ("set", "output", "profiles", "settings")
_REPORTED = ("json", "quiet", "verbose")
_REPORT_PANEL = "Reporting"


@dataclass
class Context:
    """The options that commands share, each declared once, and what they turn into.

    A command takes those that `takes` names; the others keep their defaults.
    """

    set: Annotated[
        str,
        argument("SET", "A shipped set (see `fabkit sets`) or a set's TOML file.", shipped_names),
    ] = ""
    output: Annotated[
        Path | None, option("-o --output DIR", "Output folder (default: output/SET).")
    ] = None
    pieces: Annotated[list[str], option("--piece ID", "Only this piece; repeatable.")] = field(
        default_factory=list
    )
    profiles: Annotated[
        list[str],
        option(
            "-p --profile NAME|FILE",
            "A print profile (see `fabkit profiles`) or a TOML file; repeatable, later ones win.",
            complete=preset_names,
        ),
    ] = field(default_factory=list)
    settings: Annotated[
        list[str],
        option(
            "-s --set KEY=VALUE",
            'Override a profile value, such as "unit=15 mm"; repeatable, takes precedence.',
        ),
    ] = field(default_factory=list)
    force: Annotated[
        bool,
        option("--force", "Rebuild files that are up to date, and overwrite files of others."),
    ] = False
    budget_s: Annotated[
        float, option("--budget SECONDS", "Time limit per challenge (default: 60).")
    ] = 60.0
    json: Annotated[
        bool, option("--json", "Print one JSON document to standard output.", panel=_REPORT_PANEL)
    ] = False
    quiet: Annotated[bool, option("-q --quiet", "Print errors only.", panel=_REPORT_PANEL)] = False
    verbose: Annotated[bool, option("-v --verbose", "Print details.", panel=_REPORT_PANEL)] = False
    #: When the command began, by the monotonic clock: reading files is part of a budget.
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


def takes(*shared: str) -> Callable[[Command], Command]:
    """Gives a command shared options, by their names in `Context`, and those on reporting.

    The command is written with a `Context` first, then its own options; it is called with the
    shared argument first, its own ones, then shared options.
    """
    hints = get_type_hints(Context, include_extras=True)

    def parameters(*names: str) -> list[inspect.Parameter]:
        kind = inspect.Parameter.KEYWORD_ONLY
        return [
            inspect.Parameter(
                name,
                kind,
                annotation=hints[name],
                default=inspect.Parameter.empty if name == "set" else _default(name),
            )
            for name in names
        ]

    def decorate(command: Command) -> Command:
        _, *own = inspect.signature(command, eval_str=True).parameters.values()
        first = parameters(*(name for name in shared if name == "set"))
        last = parameters(*(name for name in shared if name != "set"), *_REPORTED)
        own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]

        @wraps(command)
        def run(**values: Any) -> int | None:
            given = {one.name: values.pop(one.name) for one in (*first, *last)}
            return command(Context(**given), **values)

        every = [*first, *own, *last]
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in every}
        return run

    return decorate


def _default(name: str) -> Any:
    found = Context.__dataclass_fields__[name]
    return found.default_factory() if callable(found.default_factory) else found.default
