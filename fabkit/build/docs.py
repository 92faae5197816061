"""The documentation site: a folder of pages that a browser opens from the disk.

`scripts/docs_site.py` builds it: into the wheel, and in a checkout into its output folder.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fabkit.build.page import INDEX
from fabkit.build.reports import write_contents
from fabkit.build.targets import BuildResult, Target, build
from fabkit.core.errors import ExternalError
from fabkit.core.hashes import digest

#: Its name in an installed package, in the output folder, and in the manifest of a copy.
DOCS = "docs"


def docs_folder() -> Path:
    """Return the folder of the site: inside an installed package, ``output/docs`` in a checkout.

    Raises:
        ExternalError: when there is none.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / DOCS, package.parent / "output" / DOCS):
        if (folder / INDEX).is_file():
            return folder
    if (package.parent / DOCS).is_dir():
        raise ExternalError("the documentation is not built; build it with scripts/docs")
    raise ExternalError("the documentation is missing; reinstall fabkit")


def copy_docs(folder: Path, force: bool = False) -> BuildResult:
    """Copy the site into a folder, or bring the copy up to date.

    Raises:
        InputError: when the folder belongs to a set, or a file was changed by hand.
        ExternalError: when there is no site, or the folder is in use or cannot be written.
    """
    source = docs_folder()
    paths = sorted(path for path in source.rglob("*") if path.is_file())
    contents = {path.relative_to(source).as_posix(): path.read_bytes() for path in paths}
    recipe = digest(*(part for named in contents.items() for part in named))
    others = {name.partition("/")[0] + "/" if "/" in name else name for name in contents} - {INDEX}
    write = partial(write_contents, contents)
    return build(folder, DOCS, [Target((INDEX, *sorted(others)), recipe, write)], force)
