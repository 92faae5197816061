"""The options of commands that draw, and how drawings are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fabkit.cli.options import one_of, option, whole
from fabkit.cli.report import Report
from fabkit.core.errors import InputError
from fabkit.core.files import write_whole

_SVG, _PNG = ".svg", ".png"
#: What ``--theme`` is when it is not given.
AUTO = "auto"


def _width(text: str, name: str) -> int:
    from fabkit.output.png import LEAST_WIDTH, MOST_WIDTH

    width: int = whole(LEAST_WIDTH, MOST_WIDTH)(text, name)
    return width


Theme = Annotated[
    str | None,
    option(
        "--theme auto|light|dark",
        "Draw for light or dark pages (default: auto, which follows the reader's).",
        read=one_of((AUTO, "light", "dark")),
        complete=lambda: (AUTO, "light", "dark"),
    ),
]
Width = Annotated[
    int | None, option("--width PX", "Width of a PNG picture in pixels.", read=_width)
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
        from fabkit.output.png import missing_glyphs, png_of
        from fabkit.output.theme import missing_note

        try:
            write_whole(self.path, png_of(svg, self.width_px))
        except InputError as error:
            raise InputError("--width", error.faults) from None
        unknown = missing_glyphs(svg)
        if unknown:
            report.warn(missing_note(unknown, "an empty box"))


def target(path: Path | None, theme: str | None, width_px: int | None) -> Target | None:
    """What ``-o``, ``--theme`` and ``--width`` ask for; None without ``-o``.

    Raises:
        InputError: when one of them is wrong, or of no use without another.
    """
    look = theme_of(theme, needs=None if path else "-o FILE.svg")
    if width_px is not None and (path is None or path.suffix.lower() != _PNG):
        message = "is how many pixels wide a PNG picture is; add -o FILE.png, or leave it out"
        raise InputError.of("--width", message)
    return None if path is None else Target(path, look, width_px)


def theme_of(given: str | None, needs: str | None = None) -> str:
    """The theme to draw with.

    Args:
        given: the option's value.
        needs: an option without which nothing is drawn, and which is not given.

    Raises:
        InputError: when there is nothing to draw.
    """
    if given is not None and needs is not None:
        message = f"is the look of a drawing; add {needs}, or leave it out"
        raise InputError.of("--theme", message)
    return given or AUTO
