"""Reports in a set's output folder, such as those of check and verify."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.targets import Built, Place, Target, build
from fabkit.core.errors import printable
from fabkit.core.files import json_text, outside_failures, read_json
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

if TYPE_CHECKING:
    from fabkit.verify.check import CheckReport, VerifyReport

#: Texts and bytes by the names of their files.
Contents = Mapping[str, str | bytes]


def write_contents(contents: Contents, place: Place) -> None:
    """Writes files whose contents are known."""
    for name, content in contents.items():
        place(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def write_reports(
    folder: Path,
    puzzle: PuzzleSet,
    profile: Profile,
    contents: Contents,
    about: str = "",
    force: bool = False,
    lenient: bool = False,
) -> Built:
    """Writes reports that were just made, about the files in a folder there; see `build`."""
    target = Target(tuple(contents), "", partial(write_contents, contents), about=about)
    return build(folder, puzzle, profile, [target], force, lenient=lenient)


def check_contents(report: CheckReport) -> dict[str, str]:
    """``check.json`` and ``check.html``."""
    from fabkit.output.checkpage import check_page
    from fabkit.verify.page import check_sheet

    page = check_page(check_sheet(report))
    return {"check.json": json_text(report.document()), "check.html": page}


def verify_contents(report: VerifyReport) -> dict[str, str]:
    """``verify.json``."""
    return {"verify.json": json_text(report.document())}


def stored(folder: Path, name: str) -> dict[str, Any]:
    """A report that is up to date, as it is in the folder."""
    path = folder / name
    with outside_failures(f"cannot read {printable(str(path))}"):
        document = read_json(path)
    document.pop("schema")
    return document
