"""The page that a set is played on: its HTML, its style, and all files that it needs for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from fabkit.core.errors import OutsideError, printable
from fabkit.model.entry import Entry
from fabkit.model.puzzle import PuzzleSet
from fabkit.output.html import render_html
from fabkit.output.i18n import load_words
from fabkit.output.theme import DARK, FAMILY, LIGHT, ROLES, font_file
from fabkit.output.web.playdata import data_script, play_data

_STATIC = Path(__file__).parent / "static"
#: The scripts of the game, in the order in which they are run.
_PLAY = ("grid", "game", "hints", "store", "draw", "board", "tray", "hand", "keys", "table", "list")
SCRIPTS = ("data.js", *(f"play-{name}.js" for name in _PLAY), "play.js")
#: The script of the view in 3D.
VIEWER = "viewer.js"
#: Only files beside the page are loaded, and nothing in it is run, whatever a name may hold. Not
#: every browser takes a file on a disk for the page's own: so these are named, too.
_OWN = "'self' file:"
POLICY = (
    f"default-src 'none'; script-src {_OWN}; style-src {_OWN}; img-src {_OWN}; font-src {_OWN}; "
    "base-uri 'none'; form-action 'none'"
)
#: The tools of the game, each with the lines of its picture in a square of 24.
_TOOLS = {
    "left": "M5 11a7 7 0 1 1 2 6M5 5v6h6",
    "right": "M19 11a7 7 0 1 0-2 6M19 5v6h-6",
    "flip": "M12 3v18M9 7l-5 10h5zM15 7l5 10h-5z",
    "tray": "M4 14v5h16v-5M12 4v10M8 10l4 4 4-4",
    "hint": "M9 18h6M10 21h4M8 14a5.5 5.5 0 1 1 8 0l-1 2H9z",
    "undo": "M8 5L4 9l4 4M4 9h10a5 5 0 0 1 0 10h-4",
    "redo": "M16 5l4 4-4 4M20 9H10a5 5 0 0 0 0 10h4",
    "reset": "M6 4v16M20 5l-9 7 9 7z",
    "print": "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z",
}
_ICONS = {"previous": "M15 5l-7 7 7 7", "next": "M9 5l7 7-7 7"}


@dataclass(frozen=True)
class Download:
    """A file that the page offers.

    Attributes:
        path: where it lies, seen from the page, with ``/`` between folders.
        text: what it is called on the page.
        note: more about it, such as its size; may be empty.
    """

    path: str
    text: str
    note: str = ""


def page_files(
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    unit_mm: float,
    language: str = "en",
    downloads: Sequence[Download] = (),
    viewer: bool = True,
) -> dict[str, bytes]:
    """Everything that is needed to play, and the page itself; not what is seen in 3D.

    Args:
        puzzle: the set.
        entries: its challenges; at least one.
        unit_mm: length of a grid unit, for printing at 1:1.
        language: of all texts.
        downloads: files to offer, in their order.
        viewer: whether the page has a place for the view in 3D and loads its script.

    Returns:
        Contents by path. The same arguments give the same bytes.

    Raises:
        InputError: when there are no texts in that language.
        OutsideError: when a file of fabkit is missing.
    """
    data = play_data(puzzle, entries, unit_mm, language)
    files = {name: static(name) for name in ("icon.svg", *SCRIPTS[1:])}
    files["index.html"] = index_html(puzzle, unit_mm, language, downloads, viewer).encode()
    files["fabkit.css"] = style_sheet().encode()
    files["data.js"] = data_script(data).encode()
    for bold in (False, True):
        files[f"fonts/{font_file(bold).name}"] = font_file(bold).read_bytes()
    return dict(sorted(files.items()))


def index_html(
    puzzle: PuzzleSet,
    unit_mm: float,
    language: str = "en",
    downloads: Sequence[Download] = (),
    viewer: bool = True,
) -> str:
    """The page, with all texts escaped; see `page_files`."""
    words = load_words("page", language)
    return render_html(
        "page.html",
        words=words,
        language=language,
        policy=POLICY,
        title=printable(puzzle.title),
        scripts=(*SCRIPTS, *([VIEWER] if viewer else [])),
        tools=_TOOLS,
        icons=_ICONS,
        viewer=viewer,
        unit=f"{unit_mm:g}",
        downloads=downloads,
        quote=quote,
        credits=[(*words[key].split(f"{{{key}}}"), value) for key, value in puzzle.origin.items()],
    )


def style_sheet() -> str:
    """The page's style: the fonts, the colours of both themes, and what is made of them."""
    faces = [
        f"@font-face {{ font-family: '{FAMILY}'; font-weight: {700 if bold else 400}; "
        f"src: url(fonts/{font_file(bold).name}); font-display: swap; }}"
        for bold in (False, True)
    ]
    light, dark = (
        f":root {{ {' '.join(f'--{role}: {getattr(theme, role)};' for role in ROLES)} }}"
        for theme in (LIGHT, DARK)
    )
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}"
    return "\n".join([*faces, light, dark, static("fabkit.css").decode()])


def static(name: str) -> bytes:
    """A file of the page that is the same for every set.

    Raises:
        OutsideError: when it is missing.
    """
    try:
        return (_STATIC / name).read_bytes()
    except OSError:
        raise OutsideError(
            f"{name}, a part of the page, is missing; install fabkit again"
        ) from None
