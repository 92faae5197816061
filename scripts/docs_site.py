"""Builds the documentation site into a folder: ``python docs_site.py FOLDER``.

It needs MkDocs, which fabkit does not: `scripts/docs` runs it in a checkout, and the build of a
wheel (`scripts/docs_in_wheel.py`) puts its result into the package.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from logging.handlers import BufferingHandler
from pathlib import Path
from tempfile import TemporaryDirectory

from mkdocs.commands.build import build
from mkdocs.config import load_config

ROOT = Path(__file__).resolve().parent.parent
#: Files not needed offline: source maps, stemmers of other languages, pages for servers.
_UNUSED = ("**/*.map", "**/lunr/**/*.js", "sitemap.xml*", "404.html", "search/*.json")


def build_site(root: Path, folder: Path) -> list[str]:
    """Build the site of a checkout, in place of what is in the folder.

    Returns:
        The faults, such as broken links. If there are any, the folder is left as it is.
    """
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # it advertises the theme's successor
    log = logging.getLogger("mkdocs")
    log.propagate = False
    faults = BufferingHandler(1000)
    faults.setLevel(logging.WARNING)
    log.addHandler(faults)
    try:
        with TemporaryDirectory() as scratch:
            config = load_config(str(root / "docs" / "site" / "mkdocs.yml"), site_dir=scratch)
            config.plugins.on_startup(command="build", dirty=False)
            build(config)
            for pattern in _UNUSED:
                for path in Path(scratch).glob(pattern):
                    path.unlink()
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(scratch, folder)
    except SystemExit as error:  # MkDocs ends the program where it is strict
        return [record.getMessage() for record in faults.buffer] or [str(error)]
    finally:
        log.removeHandler(faults)
    return []


if __name__ == "__main__":
    sys.exit("\n".join(build_site(ROOT, Path(sys.argv[1]))) or 0)
