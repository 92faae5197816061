"""Reports in a set's output folder, such as those of check and verify."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabkit.build.targets import BuildResult, OutputPath, Target, build
from fabkit.core.errors import escape
from fabkit.core.formats import json_text, read_json
from fabkit.core.staging import external_errors

if TYPE_CHECKING:
    from fabkit.verify.reports import CheckReport, VerifyReport

#: Texts or bytes by file name.
Contents = Mapping[str, str | bytes]


def write_contents(contents: Contents, output_path: OutputPath) -> None:
    """Write files."""
    for name, content in contents.items():
        output_path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def write_reports(
    folder: Path,
    owner: str,
    contents: Contents,
    about: str = "",
    force: bool = False,
    lenient: bool = False,
) -> BuildResult:
    """Write reports on the files in the subfolder `about`; see `build`."""
    target = Target(tuple(contents), "", partial(write_contents, contents), about=about)
    return build(folder, owner, [target], force, lenient=lenient)


def check_contents(report: CheckReport) -> dict[str, str]:
    """``check.json`` and ``check.html``."""
    from fabkit.output.report import check_page
    from fabkit.verify.check_sheet import check_sheet

    page = check_page(check_sheet(report))
    return {"check.json": json_text(report.document()), "check.html": page}


def verify_contents(report: VerifyReport) -> dict[str, str]:
    """``verify.json``."""
    return {"verify.json": json_text(report.document())}


def read_report(folder: Path, name: str) -> dict[str, Any]:
    """Read a report in an output folder."""
    path = folder / name
    with external_errors(f"cannot read {escape(str(path))}"):
        document = read_json(path)
    document.pop("schema")
    return document
