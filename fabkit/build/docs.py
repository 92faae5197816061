"""The documentation site: a folder of pages that a browser opens from the disk."""

from __future__ import annotations

import logging
import os
import shutil
from functools import partial
from logging.handlers import BufferingHandler
from pathlib import Path

from fabkit.build.manifest import generator_digest
from fabkit.build.page import INDEX
from fabkit.build.targets import BuildResult, OutputPath, Target, build
from fabkit.core.errors import ExternalError, escape
from fabkit.core.files import digest, temporary_folder
from fabkit.model.lattice import LATTICES
from fabkit.model.profile_file import load_profile
from fabkit.model.puzzle import PuzzleSet

#: Its name in the output folder.
DOCS = "docs"
_SET = PuzzleSet("documentation", "", LATTICES["square"], False)
_LIBRARIES = ("mkdocs", "mkdocs-material", "markdown", "pymdown-extensions", "pygments")
#: Files not needed offline: source maps, stemmers of other languages, pages for servers.
_UNUSED = ("**/*.map", "**/lunr/**/*.js", "sitemap.xml*", "404.html", "search/*.json")


def docs_folder() -> Path:
    """Return the folder ``docs``: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / DOCS
    return installed if installed.is_dir() else package.parent / DOCS


def make_docs(folder: Path, force: bool = False) -> BuildResult:
    """Build the documentation or bring it up to date: ``index.html`` and the files it needs.

    Raises:
        InputError: when the folder belongs to a set, or a file was changed by hand.
        ExternalError: when the folder is in use or cannot be written, MkDocs is missing or broken,
            or a page has an error such as a broken link.
    """
    source = docs_folder()
    if not source.is_dir():
        raise ExternalError("the documentation is missing; reinstall fabkit")
    beside = [*source.parent.glob("*.md")]  # see docs/site/hooks.py
    paths = [*source.rglob("*.*"), *(source.parent / "output" / "gallery").glob("*"), *beside]
    files = sorted(path for path in paths if path.is_file() and path.suffix != ".pyc")
    named = {path.relative_to(source.parent).as_posix(): path.read_bytes() for path in files}
    recipe = digest(
        generator_digest((), _LIBRARIES), *(part for item in named.items() for part in item)
    )
    top = {f"{path.name}/" if path.is_dir() else path.name for path in (*source.iterdir(), *beside)}
    made = {name.replace(".md", ".html") for name in top} | {"gallery/", "search/"}
    names = (INDEX, *sorted(made - {INDEX}))
    target = Target(names, recipe, partial(_write, source))
    return build(folder, _SET, load_profile(), [target], force)


def _write(source: Path, output_path: OutputPath) -> None:
    with temporary_folder() as room:
        _run_mkdocs(source, room)
        for pattern in _UNUSED:
            for path in room.glob(pattern):
                path.unlink()
        for path in sorted(room.rglob("*")):
            if path.is_file():
                shutil.copyfile(path, output_path(path.relative_to(room).as_posix()))


def _run_mkdocs(source: Path, folder: Path) -> None:
    """Build the site into a folder; every warning of MkDocs is an error."""
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # it advertises the theme's successor
    log, warnings = logging.getLogger("mkdocs"), BufferingHandler(1000)
    warnings.setLevel(logging.WARNING)
    log.addHandler(warnings)
    log.propagate, propagate = False, log.propagate
    try:
        from mkdocs.commands.build import build as build_site
        from mkdocs.config import load_config

        config = load_config(str(source / "site" / "mkdocs.yml"), site_dir=str(folder))
        config.plugins.on_startup(command="build", dirty=False)
        build_site(config)
    except (KeyboardInterrupt, MemoryError, OSError):
        raise
    except BaseException as error:  # MkDocs stops with a SystemExit
        reasons = [record.getMessage() for record in warnings.buffer]
        reasons = reasons or [str(error) or type(error).__name__]
        advice = "; reinstall fabkit" if isinstance(error, ImportError) else ""
        raise ExternalError(
            f"cannot build the documentation: {escape('; '.join(reasons))}{advice}"
        ) from error
    finally:
        log.removeHandler(warnings)
        log.propagate = propagate
