"""The options of commands that draw, and how drawings are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, did_you_mean, shown
from fabkit.core.files import write_whole

_SVG, _PNG = ".svg", ".png"
#: What ``--theme`` is when it is not given.
AUTO = "auto"

Theme = Annotated[
    str | None,
    typer.Option(
        "--theme",
        metavar="auto|light|dark",
        help="Draw for white or for dark pages; auto follows the reader's.",
        show_default=AUTO,
    ),
]
Width = Annotated[
    str | None,
    typer.Option("--width", metavar="PX", help="How wide a PNG picture is, in pixels."),
]


@dataclass(frozen=True)
class Target:
    """A file to draw into.

    Attributes:
        path: the file, SVG or PNG as its name ends.
        theme: the look of the drawing.
        width_px: of a PNG picture; None for what suits the drawing.
    """

    path: Path
    theme: str
    width_px: int | None

    def write(self, svg: str, report: Report) -> None:
        """Writes a drawing, whole or not at all.

        Args:
            svg: the drawing.
            report: where to say which of its letters a picture lacks; readers of SVG files may
                have them.

        Raises:
            InputError: when it would be too high as a picture.
            OutsideError: when the fonts are missing or the folder cannot be written to.
        """
        if self.path.suffix.lower() == _SVG:
            write_whole(self.path, svg)
            return
        from fabkit.output.png import png_of
        from fabkit.output.unknown import unknown_characters, unknown_note

        try:
            write_whole(self.path, png_of(svg, self.width_px))
        except InputError as error:
            raise InputError("--width", error.faults) from None
        unknown = unknown_characters(svg)
        if unknown:
            report.warn(unknown_note(unknown, "an empty box"))


def target(output: str | None, theme: str | None, width: str | None) -> Target | None:
    """What ``-o``, ``--theme`` and ``--width`` ask for; None without ``-o``.

    Raises:
        InputError: when one of them is wrong, or of no use without another.
    """
    from fabkit.output.png import LEAST_WIDTH, MOST_WIDTH

    path = options.file_path(output, "-o", _SVG, _PNG)
    look = theme_of(theme, needs=None if path else "-o FILE.svg")
    width_px = options.whole_number(width, "--width", None, LEAST_WIDTH, MOST_WIDTH)
    if width_px is not None and (path is None or path.suffix.lower() != _PNG):
        message = "is how many pixels wide a PNG picture is; add -o FILE.png, or leave it out"
        raise InputError.of("--width", message)
    return None if path is None else Target(path, look, width_px)


def theme_of(given: str | None, needs: str | None = None) -> str:
    """The look that ``--theme`` names.

    Args:
        given: the option's value.
        needs: an option without which nothing is drawn, and which is not given.

    Raises:
        InputError: when there is no such look, or nothing to draw.
    """
    from fabkit.output.svg import LOOKS

    if given is None:
        return AUTO
    if given not in LOOKS:
        message = f"expected {', '.join(LOOKS[:-1])} or {LOOKS[-1]}, found {shown(given)}"
        raise InputError.of("--theme", message + did_you_mean(given.lower(), LOOKS))
    if needs is not None:
        raise InputError.of("--theme", f"is the look of a drawing; add {needs}, or leave it out")
    return given
