"""The play page of a set, and the front page of several: HTML, style sheet, and all other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fabkit.core.errors import escape
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.i18n import LANGUAGES, load_messages, plural_form
from fabkit.output.report import render_html
from fabkit.output.theme import DARK, FAMILY, LIGHT, ROLES, font_path, subset_font
from fabkit.output.web.playdata import data_script, play_data

#: The folder of scripts, style sheet and icon.
_STATIC = Path(__file__).parent / "static"
#: The scripts of the game, in load order.
_GAME = (
    "grid",
    "game",
    "store",
    "draw",
    "settings",
    "board",
    "input",
    "session",
    "challenges",
    "share",
)
#: All scripts of a page, in load order.
SCRIPTS = ("data.js", *(f"play-{name}.js" for name in _GAME), "play.js")
#: The script of the 3D view, and the files that it loads.
_VIEWER = ("viewer.js", "viewer-scene.js", "vendor/three.js", "vendor/three-LICENSE.txt")
#: The scripts of the front page of several sets.
_SITE = ("site-data.js", "play-store.js", "play-draw.js", "play-settings.js", "site.js")
#: The page loads only files beside it and runs no inline script, whatever a name contains. Some
#: browsers do not count files on disk as 'self', hence ``file:``.
_LOADED = " ".join(f"{kind}-src 'self' file:;" for kind in ("script", "style", "img", "font"))
POLICY = f"default-src 'none'; {_LOADED} base-uri 'none'; form-action 'none'"
#: The tools of the game, with the paths of their icons in a square of 24.
_TOOLS = {
    "left": "M5 11a7 7 0 1 1 2 6M5 5v6h6",
    "right": "M19 11a7 7 0 1 0-2 6M19 5v6h-6",
    "flip": "M12 3v18M9 7l-5 10h5zM15 7l5 10h-5z",
    "tray": "M4 14v5h16v-5M12 4v10M8 10l4 4 4-4",
    "hint": "M9 18h6M10 21h4M8 14a5.5 5.5 0 1 1 8 0l-1 2H9z",
    "undo": "M8 5L4 9l4 4M4 9h10a5 5 0 0 1 0 10h-4",
    "redo": "M16 5l4 4-4 4M20 9H10a5 5 0 0 0 0 10h4",
    "reset": "M6 4v16M20 5l-9 7 9 7z",
}
#: The menu items below the settings.
_MENU_ITEMS = {
    "solve": "M4 12l5 5L20 6",
    "share": "M8 11l8-5M8 13l8 5M5 9.5a2.5 2.5 0 1 0 .1 0M18.5 3a2 2 0 1 0 .1 0M18.5 17a2 2 0 1 0 .1 0",
    "save": "M12 4v11M8 11l4 4 4-4M5 16v4h14v-4",
    "load": "M12 15V4M8 8l4-4 4 4M5 16v4h14v-4",
    "full": "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
    "print": "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z",
}
#: All other icons.
_ICONS = {
    "previous": "M15 5l-7 7 7 7",
    "next": "M9 5l7 7-7 7",
    "clock": "M12 4a8 8 0 1 0 .1 0M12 8v5l3 2",
    "help": "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.1M12 3a9 9 0 1 0 0 18 9 9 0 1 0 0-18",
    "menu": "M5 7h14M5 12h14M5 17h14",
    "home": "M5 5h5v5H5zM14 5h5v5h-5zM5 14h5v5H5zM14 14h5v5h-5z",
    "smaller": "M6 12h12",
    "larger": "M6 12h12M12 6v12",
}
#: The languages by their own names.
_LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français", "it": "Italiano"}


@dataclass(frozen=True)
class Download:
    """A file to download: its path relative to the page, with ``/`` between folders; the link's text;
    and a note, such as its size."""

    path: str
    text: str
    note: str = ""


def page_files(
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    unit_mm: float,
    language: str = "",
    downloads: Sequence[Download] = (),
    viewer: bool = True,
    shared: str = "",
) -> dict[str, bytes]:
    """Return the page and everything needed to play, without the 3D models.

    Args:
        entries: challenges of the set; at least one.
        unit_mm: length of a grid unit, for printing at 1:1.
        language: the initial one; if empty, that of the browser, if supported.
        viewer: whether the page has a 3D view.
        shared: the path of `shared_files` for several pages, such as ``../``; empty if they are
            included.

    Returns:
        Contents by path. Equal arguments give equal bytes.

    Raises:
        InputError: when the language is not supported.
    """
    data = play_data(puzzle, entries, unit_mm, language)
    html = index_html(puzzle, unit_mm, language, downloads, viewer, shared)
    files = {} if shared else shared_files(viewer)
    files |= {"index.html": html.encode(), "data.js": data_script(data).encode()}
    return dict(sorted(files.items()))


def shared_files(viewer: bool = True) -> dict[str, bytes]:
    """Return the files that all pages share; see `page_files`."""
    scripts = [*SCRIPTS[1:], *(_VIEWER if viewer else ())]
    files = {name: static_file(name) for name in ("icon.svg", *scripts)}
    files["fabkit.css"] = style_sheet().encode()
    for bold in (False, True):
        files[_font(bold)] = subset_font(None, bold, web=True)
    files["fonts/OpenSans-LICENSE.txt"] = font_path().with_name("OpenSans.LICENSE").read_bytes()
    return files


def _font(bold: bool) -> str:
    return f"fonts/{font_path(bold).stem}.woff"


@dataclass(frozen=True)
class SetCard:
    """A set on the front page: its folder, name and title, its numbers of challenges and pieces."""

    folder: str
    set: str
    title: str
    challenges: int
    pieces: int


def site_files(cards: Sequence[SetCard], still: str, language: str = "") -> dict[str, bytes]:
    """Return the front page of several sets. `shared_files` go beside it, and an image named `still`
    into the folder of each set."""
    messages = load_messages("page", language or LANGUAGES[0])

    def facts(card: SetCard) -> str:
        counts = {"site": card.challenges, "pieces": card.pieces}
        texts = [
            plural_form(messages, key, count).format(count=count) for key, count in counts.items()
        ]
        return " · ".join(texts)

    described = [(card, facts(card)) for card in cards]
    html = _render_page(language, "site.html", scripts=_SITE, cards=described, still=still)
    translations = {language: load_messages("page", language) for language in LANGUAGES}
    data = {"defaultLanguage": language, "translations": translations, "entries": [], "titles": {}}
    return {
        _SITE[0]: data_script(data).encode(),
        _SITE[-1]: static_file(_SITE[-1]),
        "index.html": html.encode(),
    }


def index_html(
    puzzle: PuzzleSet,
    unit_mm: float,
    language: str = "",
    downloads: Sequence[Download] = (),
    viewer: bool = True,
    shared: str = "",
) -> str:
    """Render the page with all texts escaped; see `page_files`."""
    return _render_page(
        language,
        "page.html",
        title=escape(puzzle.title),
        shared=shared,
        scripts=(*SCRIPTS, *(_VIEWER[:1] if viewer else ())),
        tools=_TOOLS,
        more=_MENU_ITEMS,
        icons=_ICONS,
        viewer=viewer,
        unit=f"{unit_mm:g}",
        downloads=downloads,
        origin=puzzle.attribution,
    )


def _render_page(language: str, template: str, **values: Any) -> str:
    """Render a page in its initial language, by default the first one."""
    start = language or LANGUAGES[0]
    return render_html(
        template,
        messages=load_messages("page", start),
        language=start,
        languages=_LANGUAGES.items(),
        policy=POLICY,
        quote=quote,
        **values,
    )


def style_sheet() -> str:
    """Return the style sheet: fonts, the colours of both themes, and ``fabkit.css``."""
    faces = [
        f"@font-face {{ font-family: '{FAMILY}'; font-weight: {700 if bold else 400}; "
        f"src: url({_font(bold)}); font-display: swap; }}"
        for bold in (False, True)
    ]
    colours = [
        f"--{role}: light-dark({getattr(LIGHT, role)}, {getattr(DARK, role)});" for role in ROLES
    ]
    return "\n".join(
        [*faces, f":root {{ {' '.join(colours)} }}", static_file("fabkit.css").decode()]
    )


def static_file(name: str) -> bytes:
    """Read a static file of the page."""
    return (_STATIC / name).read_bytes()
