"""The command line, and the only place that turns errors into exit codes."""

from __future__ import annotations

import errno
import gc
import inspect
import io
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from fabkit import __version__
from fabkit.cli.certify import certify
from fabkit.cli.challenges import challenges
from fabkit.cli.check import check, verify
from fabkit.cli.context import Command
from fabkit.cli.make import make
from fabkit.cli.picture import picture
from fabkit.cli.play import booklet, cards, page
from fabkit.cli.printing import (
    EXPORTS,
    bom,
    calibrate,
    coupon,
    export_command,
    jig,
    plate,
    slice_plates,
)
from fabkit.cli.report import to_stderr
from fabkit.cli.shipped import docs, dump, profiles, schema, sets
from fabkit.cli.show import show
from fabkit.cli.snowflakes import snowflakes
from fabkit.cli.solve import solve
from fabkit.core.errors import FabkitError, InputError, did_you_mean, quote
from fabkit.core.signals import STOPPED, exit_on_signals

USAGE_EXIT = 2
OUTSIDE_EXIT = 3
INTERRUPTED_EXIT = 130

#: The commands, as `fabkit --help` groups them.
COMMANDS: dict[str, dict[str, Command]] = {
    "Look": {"sets": sets, "show": show, "picture": picture, "schema": schema, "docs": docs},
    "Make": {"make": make} | {f"export-{kind}": export_command(kind) for kind in EXPORTS},
    "Print": {
        "coupon": coupon,
        "calibrate": calibrate,
        "plate": plate,
        "slice": slice_plates,
        "bom": bom,
        "jig": jig,
    },
    "Check": {"check": check, "verify": verify},
    "Solve": {"solve": solve, "certify": certify},
    "Challenges": {"challenges": challenges, "snowflakes": snowflakes},
    "Play": {"page": page, "booklet": booklet, "cards": cards},
}


class _PlainHelp:
    """Help without types: typer would print ``<bool>`` beside every flag."""

    def get_params(self, ctx: Any) -> Any:
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None
            elif parameter.is_flag:
                parameter.metavar = ""
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        # A metavar with brackets of its own gets no more of them.
        return [re.sub(r"^\[(\[.*\.\.\.)\]\.*$", r"\1", piece.strip("{}")) for piece in pieces]


class _PlainCommand(_PlainHelp, TyperCommand):
    """A command."""


class _PlainGroup(_PlainHelp, TyperGroup):
    """Several commands."""


def _app(**options: Any) -> typer.Typer:
    settings = {"help_option_names": ["-h", "--help"]}
    return typer.Typer(cls=_PlainGroup, context_settings=settings, **options)


def _add(app: typer.Typer, name: str, command: Command, panel: str | None = None) -> None:
    """Add a command; its docstring becomes its help, each paragraph on one line."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(name, cls=_PlainCommand, help=text, rich_help_panel=panel)(command)


app = _app(name="fabkit", no_args_is_help=True)
for _panel, _commands in COMMANDS.items():
    for _name, _command in _commands.items():
        _add(app, _name, _command, _panel)
_profiles = _app(invoke_without_command=True)
_profiles.callback()(profiles)
_add(_profiles, "dump", dump)
app.add_typer(_profiles, name="profiles", rich_help_panel="Print")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"fabkit {__version__}")
        raise typer.Exit


@app.callback()
def _fabkit(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Turn packing puzzles into printable sets, and prove that the prints solve them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit code: 0 success · 1 a check failed or there is no solution · 2 bad input ·
        3 an external failure · 130, 143, 129 stopped by SIGINT, SIGTERM, SIGHUP.
    """
    # Large libraries create hundreds of thousands of long-lived objects: collecting garbage among
    # them takes a tenth of the time of a short command.
    gc.set_threshold(100_000)
    if arguments is None:  # else another program calls this, with its own handlers
        exit_on_signals()
    if isinstance(sys.stdout, io.TextIOWrapper):  # for titles that the terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except FabkitError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail(STOPPED, INTERRUPTED_EXIT)
    except MemoryError:
        return _fail("out of memory; close other programs, or try a smaller input", OUTSIDE_EXIT)
    except BrokenPipeError:  # as in `fabkit sets | head -1`
        _give_up_stdout()
        return 0
    except OSError as error:
        return _fail_outside(error)


def _fail_outside(error: OSError) -> int:
    """Report a system error: a name that is too long is bad input, all else an external failure."""
    if error.errno == errno.ENAMETOOLONG and error.filename:
        name = quote(str(error.filename))
        return _fail(f"{name}: the name is too long; choose a shorter one", InputError.exit_code)
    reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
    _give_up_stdout()
    return _fail(f"cannot write the output: {reason}", OUTSIDE_EXIT)


def _give_up_stdout() -> None:
    """Redirect standard output to nothing, so that Python does not flush it again at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@cache
def _parser() -> Any:
    """The command line parser, which takes longer to build than many commands to run."""
    return typer.main.get_command(app)


def _run(arguments: list[str]) -> int:
    """Run the parser and the command, and report usage errors."""
    command = _parser()
    usage_error: Any = typer.BadParameter.__mro__[1]
    try:
        result = command.main(args=arguments, prog_name="fabkit", standalone_mode=False)
    except usage_error as error:
        if not error.format_message():  # help was printed already
            return USAGE_EXIT
        return _fail(_usage_message(error, command, arguments), USAGE_EXIT)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except SystemExit as stop:
        if stop.code == 1:  # the parser's answer to a closed pipe
            raise BrokenPipeError from None
        raise
    if result == INTERRUPTED_EXIT:  # the parser's answer to Ctrl-C
        raise KeyboardInterrupt
    return result if isinstance(result, int) else 0


def _usage_message(error: Any, command: Any, arguments: list[str]) -> str:
    """The message of a usage error, the same with every version of the parser."""
    place = "fabkit"
    rest = list(arguments)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest[0]]
        place = f"{place} {rest.pop(0)}"
    see = f"see `{place} --help`"
    if rest and hasattr(command, "commands") and not rest[0].startswith("-"):
        hint = did_you_mean(rest[0], list(command.commands))
        message = f"there is no command {quote(rest[0])}{hint}"
    elif type(error).__name__ == "NoSuchOption":
        options = [flag for parameter in command.params for flag in parameter.opts]
        wrong = error.option_name
        message = f"there is no option {quote(wrong)}{did_you_mean(wrong, options)}"
    else:
        message = error.format_message().rstrip(".").replace("argument(s)", "argument")
        message = message[:1].lower() + message[1:]
    return f"{message} {see.capitalize()}" if message.endswith("?") else f"{message}; {see}"


def _fail(message: str, code: int) -> int:
    to_stderr(f"fabkit: {message}")
    return code
