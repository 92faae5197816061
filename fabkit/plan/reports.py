"""Reports in a set's output folder: written whole, and entered in its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from fabkit.base.errors import InputError, printable
from fabkit.base.files import Staging, folder_lock, json_text, outside_failures
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet
from fabkit.plan.manifest import MANIFEST, meshes_digest, new_entry, read_manifest
from fabkit.sheet.inspection import check_page
from fabkit.verify.catalog import VerifyReport
from fabkit.verify.check import CheckReport
from fabkit.verify.page import check_sheet


def write_check(folder: Path, report: CheckReport, on_own: bool) -> list[str]:
    """Writes ``check.json`` and ``check.html``.

    Args:
        folder: the output folder; made when needed.
        report: what was found.
        on_own: whether it speaks of the folder's own meshes.

    Returns:
        What deserves a look, in sentences.

    Raises:
        OutsideError: when the folder is in use or cannot be written.
    """
    texts = {
        "check.json": json_text(report.document()),
        "check.html": check_page(check_sheet(report)),
    }
    return _write(folder, report.taken.puzzle, report.profile, texts, on_own)


def write_verify(folder: Path, report: VerifyReport, profile: Profile, on_own: bool) -> list[str]:
    """Writes ``verify.json``; see `write_check`."""
    texts = {"verify.json": json_text(report.document())}
    return _write(folder, report.taken.puzzle, profile, texts, on_own)


def _write(
    folder: Path, puzzle: PuzzleSet, profile: Profile, texts: Mapping[str, str], on_own: bool
) -> list[str]:
    """Writes texts by file name. A manifest that cannot be read is left alone, and told."""
    warnings = []
    with folder_lock(folder), outside_failures(f"cannot write in {printable(str(folder))}"):
        try:
            manifest = read_manifest(folder, puzzle, force=False)
        except InputError as error:
            manifest = None
            warnings.append(f"{MANIFEST} was left as it is: {error}")
        recipe = meshes_digest(manifest["files"]) if manifest and on_own else ""
        with Staging(folder) as staging:
            for name, text in texts.items():
                path = staging.path(name)
                path.write_text(text, encoding="utf-8", newline="\n")
                if manifest is not None:
                    manifest["files"][name] = new_entry(path, recipe, profile, {})
            if manifest is not None:
                manifest["files"] = dict(sorted(manifest["files"].items()))
                path = staging.path(MANIFEST)
                path.write_text(json_text(manifest), encoding="utf-8", newline="\n")
            staging.commit()
    return warnings
