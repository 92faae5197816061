"""The play page of a set, and the front page of several: HTML, style sheet, and all other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fabkit.core.errors import escape
from fabkit.core.parsing import shipped_file
from fabkit.model.puzzle import Entry, PuzzleSet
from fabkit.output.i18n import LANGUAGES, load_messages, plural_form
from fabkit.output.report import render_html
from fabkit.output.theme import DARK, FAMILY, LIGHT, ROLES, font_path, subset_font
from fabkit.output.web.linker import link
from fabkit.output.web.playdata import data_script, play_data

#: The folder of modules, style sheet and icon.
STATIC = Path(__file__).parent / "static"
#: The scripts of a page, and of the front page of several sets, in load order: the data, and
#: modules in one script; see `link`.
_SCRIPTS, _SITE = ("data.js", "play.js"), ("site-data.js", "site.js")
#: The library of the 3D view.
_LIBRARY = ("vendor/three.js", "vendor/three-LICENSE.txt")
#: The page loads only files beside it and runs no inline script, whatever a name contains. Some
#: browsers do not count files on disk as 'self', hence ``file:``.
_LOADED = " ".join(f"{kind}-src 'self' file:;" for kind in ("script", "style", "img", "font"))
POLICY = f"default-src 'none'; {_LOADED} base-uri 'none'; form-action 'none'"
#: The languages by their own names.
LANGUAGE_NAMES = {"en": "English", "de": "Deutsch", "fr": "Français", "it": "Italiano"}


@dataclass(frozen=True)
class Download:
    """A file to download: its path relative to the page, with ``/`` between folders; the text of
    the link; and a note, such as its size."""

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
    html = _render_page(
        language,
        "page.html",
        title=escape(puzzle.title),
        shared=shared,
        scripts=_SCRIPTS,
        viewer=viewer,
        unit=f"{unit_mm:g}",
        downloads=downloads,
        origin=puzzle.attribution,
    )
    files = {} if shared else shared_files(viewer)
    files |= {"index.html": html.encode(), "data.js": data_script(data).encode()}
    return dict(sorted(files.items()))


def shared_files(viewer: bool = True) -> dict[str, bytes]:
    """Return the files that all pages share; see `page_files`."""
    files = {name: static_file(name) for name in ("icon.svg", *(_LIBRARY if viewer else ()))}
    files["play.js"] = link(STATIC, *(["viewer.js"] if viewer else []), "play.js").encode()
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
    """Return the front page of several sets. `shared_files` go beside it, and an image named
    `still` into the folder of each set."""
    messages = load_messages("page", language or LANGUAGES[0])

    def count_text(key: str, count: int) -> str:
        return plural_form(messages, key, count).format(count=count)

    facts = [
        f"{count_text('site', card.challenges)} · {count_text('pieces', card.pieces)}"
        for card in cards
    ]
    rows = [*zip(cards, facts, strict=True)]
    html = _render_page(language, "site.html", scripts=_SITE, cards=rows, still=still)
    translations = {language: load_messages("page", language) for language in LANGUAGES}
    data = {"defaultLanguage": language, "translations": translations, "entries": [], "titles": {}}
    return {
        _SITE[0]: data_script(data).encode(),
        _SITE[1]: link(STATIC, _SITE[1]).encode(),
        "index.html": html.encode(),
    }


def _render_page(language: str, template: str, **values: Any) -> str:
    """Render a page in its initial language, by default the first one, with all texts escaped."""
    start = language or LANGUAGES[0]
    return render_html(
        template,
        messages=load_messages("page", start),
        language=start,
        languages=LANGUAGE_NAMES.items(),
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
    return shipped_file(STATIC / name).read_bytes()
