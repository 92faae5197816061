"""The checks of `scripts/wheel-smoke` that need Python: ``python wheel_checks.py CHECK
ARGUMENT...``.

``files CHECKOUT WHEEL``
    The wheel holds all files of the checkout that belong into it, and but for the site's no others.
``link FOLDER``
    Adds to a folder in which only fabkit is installed what it declares that it needs.
``imports``
    In such an environment every module of fabkit can be imported, and every library that fabkit
    imports anywhere is declared.
"""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import distribution, distributions, packages_distributions
from pathlib import Path
from zipfile import ZipFile

NAME = "fabkit-puzzles"
#: Modules that need an extra, and the library that is missing without it.
NEED_EXTRAS = {"fabkit.studio.server": "anyio", "fabkit.studio.workers": "anyio"}
#: Libraries that fabkit imports without declaring them, and the declared ones that need them.
COME_ALONG = {"llvmlite": "numba", "markupsafe": "jinja2", "pydantic_core": "pydantic"}


def check_files(checkout: str, wheel: str) -> list[str]:
    """List the files that are missing in a wheel, and those that git does not know.

    All of ``fabkit`` and ``pieces`` belongs into it; of ``docs`` all but the configuration of the
    site, with its pages as HTML; and the pictures and texts that the site has from elsewhere.
    """
    names = {path: path for path in _tracked(checkout, "fabkit")}
    names |= {path: f"fabkit/{path}" for path in _tracked(checkout, "pieces")}
    site = ("docs", ":!docs/site", "output/gallery/*.[ps][nv]g", "CHANGELOG.md", "CONTRIBUTING.md")
    for path in _tracked(checkout, *site):
        page = re.sub(r"\.md$", ".html", re.sub(r"^(docs|output)/", "", path))
        names[path] = f"fabkit/docs/{page}"
    with ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
    theme = re.compile(r"fabkit/docs/|[^/]*\.dist-info/")
    unknown = {name for name in held if not theme.match(name)} - {*names.values()}
    return [
        *(f"the wheel lacks {name}: {path}" for path, name in names.items() if name not in held),
        *(f"the wheel has {name}, which git does not know" for name in sorted(unknown)),
    ]


def _tracked(checkout: str, *patterns: str) -> list[str]:
    """List files that git knows, or would know once they are added."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    return subprocess.check_output(command, cwd=checkout, text=True).splitlines()


def link_requirements(folder: str) -> list[str]:
    """Link the files of all distributions that fabkit needs, itself or through others.

    They are those of the environment that runs this. No installation of theirs is tried again,
    only that they suffice: what nobody declares is not there.
    """
    from packaging.requirements import Requirement

    (fabkit,) = distributions(path=[folder])
    needed = [(fabkit, "")]  # with each of its extras that is asked for
    names = {(NAME, "")}
    for asking, extra in needed:
        for requirement in map(Requirement, asking.requires or ()):
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            for asked in ("", *requirement.extras):
                if (_normalized(requirement.name), asked) not in names:
                    names.add((_normalized(requirement.name), asked))
                    needed.append((distribution(requirement.name), asked))
    for other in {dist.name: dist for dist, _ in needed[1:]}.values():
        for file in other.files or ():
            if ".." not in file.parts:  # as in the path of a program
                _link(Path(str(other.locate_file(file))), Path(folder, file))
    return []


def _link(source: Path, target: Path) -> None:
    """Link or copy a file unless it is there: some distributions share files."""
    if target.exists() or not source.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def check_imports() -> list[str]:
    """List modules that cannot be imported, and libraries that are imported but not declared."""
    import fabkit
    from fabkit.sets.library import shipped_folder

    failed = {}
    for module in pkgutil.walk_packages(fabkit.__path__, "fabkit."):
        try:
            import_module(module.name)
        except ModuleNotFoundError as error:
            failed[module.name] = error.name
    faults = [f"{name} needs {library}" for name, library in failed.items() - NEED_EXTRAS.items()]
    for place in (Path(fabkit.__path__[0]), shipped_folder()):
        if not place.resolve().is_relative_to(Path(sys.prefix).resolve()):
            faults.append(f"{place} is not in this environment")
    faults += [f"{name} needs no extra" for name in NEED_EXTRAS.keys() - failed.keys()]

    texts = [text for text in distribution(NAME).requires or () if "extra == 'dev'" not in text]
    declared = {_normalized(re.split(r"[^\w.-]", text)[0]) for text in texts}
    installed = packages_distributions()
    for path in sorted(Path(fabkit.__path__[0]).rglob("*.py")):
        for library in _imported(path) - sys.stdlib_module_names - {"fabkit"}:
            names = installed.get(COME_ALONG.get(library, library), [library])
            if not declared & {*map(_normalized, names)}:
                faults.append(f"{path} imports {library}, which pyproject.toml does not declare")
    return faults


def _imported(path: Path) -> set[str]:
    """Return the packages that a module imports, also inside functions."""
    names = set[str]()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


def _normalized(name: str) -> str:
    """Return the name of a distribution in the spelling that all of its spellings share."""
    return re.sub(r"[-_.]+", "-", name).lower()


CHECKS: dict[str, Callable[..., list[str]]] = {
    "files": check_files,
    "link": link_requirements,
    "imports": check_imports,
}

if __name__ == "__main__":
    sys.exit("\n".join(CHECKS[sys.argv[1]](*sys.argv[2:])) or 0)
