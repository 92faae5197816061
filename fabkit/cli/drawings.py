"""Options of commands that draw, and the files they draw to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fabkit.cli.options import one_of, option, refuse, whole
from fabkit.cli.report import Report
from fabkit.core.errors import InputError
from fabkit.core.staging import write_atomically

#: The default of ``--theme``.
AUTO = "auto"


def _width(text: str) -> int:
    from fabkit.output.png import MAX_WIDTH, MIN_WIDTH

    width: int = whole(MIN_WIDTH, MAX_WIDTH)(text)
    return width


THEME = partial(
    option,
    "--theme auto|light|dark",
    "Colours for light or dark pages (default: auto, which follows the viewer).",
    read=one_of((AUTO, "light", "dark")),
)
WIDTH = partial(
    option,
    "--width PX",
    "Width of a PNG file, in pixels (default: that of the drawing).",
    read=_width,
)


@dataclass(frozen=True)
class DrawingFile:
    """A file to draw to, SVG or PNG; `width_px` of None is that of the drawing."""

    path: Path
    theme: str
    width_px: int | None

    def write(self, svg: str, report: Report) -> None:
        """Write a drawing; for PNG, warn of characters that the font lacks."""
        if self.path.suffix.lower() == ".svg":
            write_atomically(self.path, svg)
        else:
            from fabkit.output.png import missing_glyphs, svg_to_png
            from fabkit.output.theme import missing_glyphs_note

            try:
                write_atomically(self.path, svg_to_png(svg, self.width_px))
            except InputError as error:
                raise InputError("--width", error.errors) from None
            if unknown := missing_glyphs(svg):
                report.warn(missing_glyphs_note(unknown, "an empty box"))


def drawing_file(path: Path | None, theme: str | None, width_px: int | None) -> DrawingFile | None:
    """The file of ``-o``, ``--theme`` and ``--width``; None without ``-o``."""
    if path is None:
        refuse({"--theme": theme}, "requires a drawing; add -o FILE.svg, or omit it")
    if path is None or path.suffix.lower() != ".png":
        refuse({"--width": width_px}, "requires a PNG file; add -o FILE.png, or omit it")
    return None if path is None else DrawingFile(path, theme or AUTO, width_px)
