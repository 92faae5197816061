"""What of a page takes longest to make, its meshes and its picture; no text is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabkit.build.export import Progress
from fabkit.build.manifest import is_as_written
from fabkit.build.pagemodels import glb_models
from fabkit.build.showpiece import cover_picture
from fabkit.build.workbench import Workbench
from fabkit.model.accessory import Thing
from fabkit.model.entry import Entry
from fabkit.model.profile import Profile
from fabkit.model.puzzle import PuzzleSet

#: The folder of what is shown in space, and what is shown where the browser cannot do that.
MODELS, STILL = "models", "still.png"
#: The key of a page's account in its manifest under which the recipe of all this is.
SHOWN = "shown"


def make_shown(
    puzzle: PuzzleSet,
    entries: Sequence[Entry],
    profile: Profile,
    bench: Workbench,
    ready: Callable[[Thing], Path | None],
    progress: Progress,
) -> dict[str, bytes]:
    """The GLB files of all things, and the still picture.

    Args:
        puzzle: the set.
        entries: its challenges; the picture shows one of them.
        profile: how everything is printed.
        bench: makes the meshes; see `fabkit.build.picture.picture_bench`.
        ready: the STL file of a thing that has one.
        progress: told before each file.

    Returns:
        Contents by the files' names on the page.

    Raises:
        InputError: when the profile does not suit a thing.
        OutsideError: when a library fails.
    """
    models = glb_models(bench, progress)
    progress(0, 0, STILL)
    return {
        **{f"{MODELS}/{one}.glb": content for one, content in models.items()},
        STILL: cover_picture(puzzle, entries, profile, ready),
    }


def kept_shown(folder: Path, manifest: Mapping[str, Any], recipe: str) -> dict[str, bytes]:
    """The same, read from a page for which it was made by the same recipe; else nothing.

    Args:
        folder: of the page.
        manifest: the folder's.
        recipe: of all that goes into them.
    """
    told = manifest.get("page")
    if not isinstance(told, dict) or told.get(SHOWN) != recipe:
        return {}
    entries = {
        name: entry
        for name, entry in manifest["files"].items()
        if name == STILL or name.startswith(f"{MODELS}/")
    }
    if not all(is_as_written(folder / name, entry) for name, entry in entries.items()):
        return {}
    return {name: (folder / name).read_bytes() for name in entries}
