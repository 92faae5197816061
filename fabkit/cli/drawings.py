"""The options of commands that draw, and how drawings are written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fabkit.cli.options import one_of, option, refuse, whole
from fabkit.cli.report import Report
from fabkit.core.errors import InputError
from fabkit.core.files import write_whole

#: What ``--theme`` is when it is not given.
AUTO = "auto"


def _width(text: str, name: str) -> int:
    from fabkit.output.png import LEAST_WIDTH, MOST_WIDTH

    width: int = whole(LEAST_WIDTH, MOST_WIDTH)(text, name)
    return width


THEME = option(
    "--theme auto|light|dark",
    "Draw for light or dark pages (default: auto, which follows the reader's).",
    read=one_of((AUTO, "light", "dark")),
)
WIDTH = option("--width PX", "Width of a PNG picture in pixels.", read=_width)


@dataclass(frozen=True)
class Target:
    """A file to draw into, SVG or PNG; the width of a picture is None for what suits it."""

    path: Path
    theme: str
    width_px: int | None

    def write(self, svg: str, report: Report) -> None:
        """Writes a drawing, and says which letters a picture lacks; readers of SVG may have them.

        Raises:
            InputError: when it would be too high as a picture.
            OutsideError: when the fonts are missing or the folder cannot be written to.
        """
        if self.path.suffix.lower() == ".svg":
            write_whole(self.path, svg)
        else:
            from fabkit.output.png import missing_glyphs, png_of
            from fabkit.output.theme import missing_note

            try:
                write_whole(self.path, png_of(svg, self.width_px))
            except InputError as error:
                raise InputError("--width", error.faults) from None
            if unknown := missing_glyphs(svg):
                report.warn(missing_note(unknown, "an empty box"))


def target(path: Path | None, theme: str | None, width_px: int | None) -> Target | None:
    """What ``-o``, ``--theme`` and ``--width`` ask for; None without ``-o``.

    Raises:
        InputError: when one of them is of no use without another.
    """
    if path is None:
        refuse({"--theme": theme}, "is the look of a drawing; add -o FILE.svg, or leave it out")
    if path is None or path.suffix.lower() != ".png":
        message = "is how many pixels wide a PNG picture is; add -o FILE.png, or leave it out"
        refuse({"--width": width_px}, message)
    return None if path is None else Target(path, theme or AUTO, width_px)
