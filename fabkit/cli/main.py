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
from dataclasses import fields
from functools import cache, partial
from pkgutil import resolve_name
from typing import Annotated, Any, cast, get_type_hints

import typer
from typer._click.exceptions import NoSuchOption, UsageError
from typer.core import TyperCommand, TyperGroup

from fabkit import __version__
from fabkit.cli.options import DECLARED, read_value
from fabkit.cli.report import to_stderr
from fabkit.core.errors import FabkitError, InputError, did_you_mean, quote
from fabkit.core.signals import STOPPED, exit_on_signals

USAGE_EXIT = 2
OUTSIDE_EXIT = 3
INTERRUPTED_EXIT = 130

#: The commands, as `fabkit --help` groups them, and the class of each in `fabkit.cli`.
COMMANDS: dict[str, dict[str, str]] = {
    "Design": {"studio": "studio:Studio"},
    "Look": {
        "sets": "shipped:Sets",
        "show": "show:Show",
        "picture": "picture:Picture",
        "schema": "shipped:Schema",
        "docs": "shipped:Docs",
    },
    "Make": {
        "make": "make:Make",
        "export-stl": "exports:ExportStl",
        "export-step": "exports:ExportStep",
        "export-3mf": "exports:Export3mf",
        "export-dxf": "exports:ExportDxf",
        "export-svg": "exports:ExportSvg",
    },
    "Print": {
        "coupon": "coupon:Coupon",
        "calibrate": "coupon:Calibrate",
        "plate": "exports:Plate",
        "slice": "slicing:Slice",
        "bom": "slicing:BillOfMaterials",
        "jig": "jig:Jig",
        "profiles": "shipped:Profiles",
    },
    "Check": {"check": "check:Check", "verify": "check:Verify"},
    "Solve": {"solve": "solve:Solve", "certify": "certify:Certify", "warm-up": "warm_up:WarmUp"},
    "Challenges": {"challenges": "challenges:Challenges", "snowflakes": "snowflakes:Snowflakes"},
    "Play": {"page": "play:Page", "booklet": "play:Booklet", "cards": "play:Cards"},
}
#: The commands that others have, and their classes.
_SUBCOMMANDS = {"profiles": {"dump": "shipped:Dump"}}


class _Value:
    """Reads the values of a parameter as declared; typer would import pydantic and build a
    validator.
    """

    def __init__(self, read: Callable[[str], Any] | None) -> None:
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return what the field is set to; called by typer."""
        if param.multiple or param.nargs == -1:
            return [self._of(text, param) for text in value or ()]
        return self._of(value, param)

    def _of(self, value: Any, param: Any) -> Any:
        if self._read is None or not isinstance(value, str):
            return value
        return read_value(self._read, value, param.opts[0])


class _PlainHelp:
    """Help without types: typer would print ``<bool>`` beside every flag."""

    def get_params(self, ctx: Any) -> Any:
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: None
            elif parameter.is_flag:
                parameter.metavar = ""
            read = parameter.type_descriptor.parameter_info.parser
            parameter.get_runtime_param = partial(_Value, read)
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
    kind = _class(COMMANDS[panel][name])
    subcommands = _SUBCOMMANDS.get(name)
    if subcommands is None:
        app = _app(add_completion=False)
        _add(app, name, kind)
    else:
        app = _app(name=name, add_completion=False, invoke_without_command=True)
        app.callback()(kind)
        for subcommand, path in subcommands.items():
            _add(app, subcommand, _class(path))
    command: Any = typer.main.get_command(app)
    command.rich_help_panel = panel
    return command


def _class(path: str) -> Callable[..., Any]:
    """Import a command's class, which is named as in `COMMANDS`; calling it reads its options."""
    kind: Any = resolve_name(f"fabkit.cli.{path}")
    types = get_type_hints(kind)
    annotations = {
        field.name: Annotated[types[field.name], field.metadata[DECLARED]]
        for field in fields(kind)
        if DECLARED in field.metadata
    }
    kind.__init__.__annotations__ = types | annotations
    return cast("Callable[..., Any]", kind)


def _add(app: typer.Typer, name: str, command: Callable[..., Any]) -> None:
    """Add a command; its docstring becomes its help, each paragraph on one line."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    app.command(name, cls=_PlainCommand, help=text)(command)


def _print_version(version: bool) -> None:
    if version:
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
    """Parse the command line, report usage errors, and run the command."""
    program = parser()
    try:
        command = program.main(args=arguments, prog_name="fabkit", standalone_mode=False)
    except UsageError as error:
        if not error.format_message():  # help was printed already
            return USAGE_EXIT
        return _fail(_usage_message(error, program, arguments), USAGE_EXIT)
    except SystemExit as stop:
        if stop.code == 1:  # the parser's answer to a closed pipe
            raise BrokenPipeError from None
        raise
    if command == INTERRUPTED_EXIT:  # the parser's answer to Ctrl-C
        raise KeyboardInterrupt
    return (0 if isinstance(command, int) else command.run()) or 0


def _usage_message(error: UsageError, command: Any, arguments: list[str]) -> str:
    """Return the message of a usage error, the same with every version of the parser."""
    name = "fabkit"
    words = list(arguments)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words[0]]
        name = f"{name} {words.pop(0)}"
    see = f"see `{name} --help`"
    if words and hasattr(command, "commands") and not words[0].startswith("-"):
        hint = did_you_mean(words[0], list(command.commands))
        message = f"there is no command {quote(words[0])}{hint}"
    elif isinstance(error, NoSuchOption):
        options = [flag for parameter in command.params for flag in parameter.opts]
        message = f"there is no option {quote(error.option_name)}"
        message += did_you_mean(error.option_name, options)
    else:
        message = error.format_message().rstrip(".").replace("argument(s)", "argument")
        message = message[:1].lower() + message[1:]
    return f"{message} {see.capitalize()}" if message.endswith("?") else f"{message}; {see}"


def _fail(message: str, code: int) -> int:
    to_stderr(f"fabkit: {message}")
    return code
