"""A set of three pieces with a tray, and its folders that many tests share."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

from fabkit.cli import main
from tests.conftest import ROOT
from tests.support.built import SOLID_PACKAGES, built

TRIO = (ROOT / "tests/sets/trio.toml").read_text(encoding="utf-8")
#: What takes less time to be read: neither recesses nor a lid.
PLAIN = ("-s", "recess.fit=none", "-s", "lid.kind=none")


def trio_folder(*options: str) -> Path:
    """A folder with the set's file, and its STL files under output/trio."""

    def make(folder: Path) -> None:
        (folder / "trio.toml").write_text(TRIO)
        output = str(folder / "output/trio")
        assert main(["export-stl", str(folder / "trio.toml"), "-q", "-o", output, *options]) == 0

    name = "trio-plain" if options else "trio"
    return built(name, make, TRIO, options, packages=(*SOLID_PACKAGES, "build"))


def checked_trio() -> Path:
    """Such a folder after `check` and `verify`, and their output as check.txt and verify.txt."""

    def make(folder: Path) -> None:
        shutil.copytree(trio_folder(), folder, dirs_exist_ok=True)
        for command in ("check", "verify"):
            with contextlib.redirect_stdout(io.StringIO()) as stdout:
                output = str(folder / "output/trio")
                assert main([command, str(folder / "trio.toml"), "-o", output]) == 0
            (folder / f"{command}.txt").write_text(stdout.getvalue())

    return built("trio-checked", make, TRIO)
