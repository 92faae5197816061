"""The studio's page: its files, and the document with which it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fabkit.core.parsing import shipped_file
from fabkit.model.lattice import LATTICES
from fabkit.output.i18n import LANGUAGES, load_messages
from fabkit.output.report import render_html
from fabkit.output.web.document import LANGUAGE_NAMES, STATIC, shared_files
from fabkit.output.web.drawdata import lattices_to_draw_on
from fabkit.output.web.playdata import data_script
from fabkit.sets.library import shipped_names
from fabkit.studio.files import WorkingFolder

_STATIC = Path(__file__).parent / "static"
#: The page loads its own files only, and runs no inline script.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: "
    "blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action "
    "'none'"
)
#: The views of the page, in order.
VIEWS = ("draw", "tune", "challenges", "play")
#: The types of files by their endings.
MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".woff": "font/woff",
}


def studio_files() -> dict[str, bytes]:
    """Return the files of the page by path, with the play page's modules, which its own import."""
    files = shared_files()
    for path in (*sorted(STATIC.glob("*.js")), *sorted(_STATIC.iterdir())):
        files[path.name] = shipped_file(path).read_bytes()
    files["fabkit.css"] += files.pop("studio.css")
    messages = {}
    for language in LANGUAGES:
        texts = load_messages("settings", language).items()
        messages[language] = load_messages("page", language) | load_messages("studio", language)
        messages[language] |= {f"setting.{key}": text for key, text in texts}
    data = {"defaultLanguage": "", "translations": messages, "entries": [], "titles": {}}
    files["data.js"] = data_script(data).encode()
    html = render_html(
        "studio.html",
        messages=messages[LANGUAGES[0]],
        language=LANGUAGES[0],
        languages=LANGUAGE_NAMES.items(),
        policy=POLICY,
        scripts=("data.js", "vendor/three.js"),
        views=VIEWS,
        lattices=LATTICES,
    )
    files["index.html"] = html.encode()
    return files


def start_document(
    folder: WorkingFolder, start: str, layers: Sequence[str], settings: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the page starts with: the set to open, and what there is to choose from."""
    from fabkit.mesh.files.readers import ENDINGS

    return {
        "open": folder.read(start),
        "layers": list(layers),
        "settings": dict(settings),
        "files": folder.names(),
        "shipped": shipped_names(),
        "lattices": lattices_to_draw_on(),
        "meshes": ENDINGS,
    }
