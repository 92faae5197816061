"""The command line, and the only place that turns errors into exit codes."""

from __future__ import annotations

import errno
import gc
import inspect
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from fabkit import __version__
from fabkit.cli.report import to_stderr
from fabkit.core.errors import FabkitError, InputError, did_you_mean, quote
from fabkit.core.signals import STOPPED, exit_on_signals

USAGE_EXIT = 2
OUTSIDE_EXIT = 3
INTERRUPTED_EXIT = 130

#: The commands, as `fabkit --help` groups them, and the function of each in `fabkit.cli`.
COMMANDS: dict[str, dict[str, str]] = {
    "Design": {"studio": "studio:studio"},
    "Look": {
        "sets": "shipped:sets",
        "show": "show:show",
        "picture": "picture:picture",
        "schema": "shipped:schema",
        "docs": "shipped:docs",
    },
    "Make": {
        "make": "make:make",
        "export-stl": "printing:export_stl",
        "export-step": "printing:export_step",
        "export-3mf": "printing:export_3mf",
        "export-dxf": "printing:export_dxf",
        "export-svg": "printing:export_svg",
    },
    "Print": {
        "coupon": "printing:coupon",
        "calibrate": "printing:calibrate",
        "plate": "printing:plate",
        "slice": "printing:slice_plates",
        "bom": "printing:bom",
        "jig": "printing:jig",
        "profiles": "shipped:profiles",
    },
    "Check": {"check": "check:check", "verify": "check:verify"},
    "Solve": {"solve": "solve:solve", "certify": "certify:certify", "warm-up": "warm_up:warm_up"},
    "Challenges": {"challenges": "challenges:challenges", "snowflakes": "snowflakes:snowflakes"},
    "Play": {"page": "play:page", "booklet": "play:booklet", "cards": "play:cards"},
}
#: The commands that others have, and their functions.
_SUBCOMMANDS = {"profiles": {"dump": "shipped:dump"}}
#: The readers of parameters without one of their own, by type.
_READERS: dict[Any, Callable[[Any], Any]] = {str: str, list[str]: str, bool: bool}


class _Reader:
    """Reads the values of a parameter as declared; typer would import pydantic and build a validator."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return what the command is called with; called by typer."""
        if param.multiple or param.nargs == -1:
            return [self._read(text) for text in value or ()]
        return None if value is None else self._read(value)


class _PlainHelp:
    """Help without types: typer would print ``<bool>`` beside every flag."""

    def get_params(self, ctx: Any) -> Any:
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None
            elif parameter.is_flag:
                parameter.metavar = ""
            kind = parameter.type_descriptor
            read = kind.parameter_info.parser or _READERS[kind.annotation]
            parameter.get_runtime_param = partial(_Reader, read)
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


class _Commands(Mapping[str, Any]):
    """The commands by name; each is imported and built when it is looked up."""

    def __init__(self) -> None:
        self._panels = {name: panel for panel, names in COMMANDS.items() for name in names}

    def __iter__(self) -> Iterator[str]:
        return iter(self._panels)

    def __len__(self) -> int:
        return len(self._panels)

    def __getitem__(self, name: str) -> Any:
        return _command(name, self._panels[name])


@cache
def _command(name: str, panel: str) -> Any:
    """Import and build a command."""
    function = _function(COMMANDS[panel][name])
    subcommands = _SUBCOMMANDS.get(name)
    if subcommands is None:
        app = _app(add_completion=False)
        _add(app, name, function)
    else:
        app = _app(name=name, add_completion=False, invoke_without_command=True)
        app.callback()(function)
        for subcommand, place in subcommands.items():
            _add(app, subcommand, _function(place))
    command: Any = typer.main.get_command(app)
    command.rich_help_panel = panel
    return command


def _function(place: str) -> Callable[..., Any]:
    """Import a command's function, which is named as in `COMMANDS`."""
    function: Callable[..., Any] = resolve_name(f"fabkit.cli.{place}")
    return function


def _add(app: typer.Typer, name: str, command: Callable[..., Any]) -> None:
    """Add a command; its docstring becomes its help, each paragraph on one line."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(name, cls=_PlainCommand, help=text)(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"fabkit {__version__}")
        raise typer.Exit


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
    gc.set_threshold(300_000)
    # Pydantic would look for plugins in every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
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
def parser() -> Any:
    """The command line parser; its commands are built when they are looked up."""
    app = _app(name="fabkit", no_args_is_help=True)
    app.callback()(_fabkit)
    program: Any = typer.main.get_command(app)
    program.commands = _Commands()
    return program


def _run(arguments: list[str]) -> int:
    """Run the parser and the command, and report usage errors."""
    command = parser()
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
