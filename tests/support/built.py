"""Folders and meshes that many tests share, built once and kept on disk.

They are kept under the hash of what they are made from: fabkit's own code, the pieces, the
versions of the libraries, and what the caller names. So all workers and all later runs use one
copy, and a change of the code makes a new one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from tests.conftest import ROOT

#: Where they are kept; the oldest go when there are more than so many of one name.
STORE = Path(os.environ.get("FABKIT_TEST_STORE") or ROOT / ".pytest_cache" / "built")
KEPT_OF_A_NAME = 3
#: What shapes an STL file.
SOLID_PACKAGES = ("core", "model", "profiles", "sets", "drawing", "solid")


def built(
    name: str, make: Callable[[Path], None], *depends: object, packages: tuple[str, ...] = ()
) -> Path:
    """A folder that `make` has filled, now or in an earlier run. Callers only read it.

    Args:
        name: of the folder, readable.
        make: fills an empty folder.
        depends: whatever else its content depends on.
        packages: the packages of fabkit whose code it depends on; empty for all of them.

    Example:
        >>> folder = built("greeting", lambda to: (to / "a").write_text("hello"), packages=("core",))
        >>> (folder / "a").read_text()
        'hello'
    """
    key = hashlib.sha256(f"{_code(packages)} {depends!r}".encode()).hexdigest()[:16]
    STORE.mkdir(parents=True, exist_ok=True)
    folder = STORE / f"{name}-{key}"
    with FileLock(STORE / f"{name}.lock"):
        if not folder.exists():
            part = STORE / f"{name}.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            make(part)
            older = sorted(STORE.glob(f"{name}-*"), key=lambda one: one.stat().st_mtime)
            for one in older[: 1 - KEPT_OF_A_NAME or None]:
                shutil.rmtree(one, ignore_errors=True)
            part.rename(folder)
    return folder


def exported(set_name: str, *options: str) -> Path:
    """The output folder of ``fabkit export-stl SET OPTIONS``, shared by all tests."""
    from fabkit.cli import main

    def export(folder: Path) -> None:
        assert main(["export-stl", set_name, *options, "-q", "-o", str(folder)]) == 0

    name = f"stl-{Path(set_name).stem}-{hashlib.sha256(repr(options).encode()).hexdigest()[:6]}"
    content = Path(set_name).read_bytes() if Path(set_name).is_file() else b""
    return built(name, export, options, content, packages=(*SOLID_PACKAGES, "build", "cli"))


@cache
def _code(packages: tuple[str, ...]) -> str:
    """A hash of fabkit's code in some packages, of the shipped pieces, and of the libraries."""
    folders = [ROOT / "fabkit" / package for package in packages] or [ROOT / "fabkit"]
    seen = hashlib.sha256()
    for folder in (*folders, ROOT / "pieces"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                seen.update(path.relative_to(ROOT).as_posix().encode())
                seen.update(path.read_bytes())
    for library in ("cadquery", "cadquery-ocp", "trimesh", "manifold3d", "shapely"):
        seen.update(version(library).encode())
    return seen.hexdigest()
