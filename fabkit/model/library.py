"""The shipped sets, and how a SET argument becomes a `PuzzleSet`."""

from __future__ import annotations

from pathlib import Path

from fabkit.base.errors import InputError, nearest, printable, shown
from fabkit.model.puzzle import PuzzleSet
from fabkit.model.setfile import read_set


def shipped_folder() -> Path:
    """The folder ``pieces``: inside an installed package, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "pieces"
    return installed if installed.is_dir() else package.parent / "pieces"


def shipped_names() -> list[str]:
    """The names of the shipped sets, in alphabetical order.

    Example:
        >>> shipped_names()
        ['cubimagici', 'fridgeiq', 'iqblock', 'iqfit', 'iqstars']
    """
    return sorted(path.stem for path in shipped_folder().glob("*.toml"))


def load_set(name: str) -> PuzzleSet:
    """Loads a shipped set by name, or a set file by path.

    Args:
        name: such as ``"fridgeiq"``, or a path that ends in ``.toml`` or has a folder in it.

    Returns:
        The set.

    Raises:
        InputError: when there is no such set, or its file has faults.

    Example:
        >>> fridgeiq = load_set("fridgeiq")
        >>> len(fridgeiq.pieces), fridgeiq.area
        (16, 40.0)
    """
    if name in shipped_names():
        return read_set(shipped_folder() / f"{name}.toml", f"{name}.toml")
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return read_set(Path(name))
    known = ", ".join(shipped_names())
    near = [path for path in (f"./{name}", f"./{name}.toml") if Path(path).is_file()]
    near += [nearest(name.lower(), shipped_names())]
    if near[0]:
        raise InputError.of("", f"there is no set {shown(name)}; did you mean {shown(near[0])}?")
    raise InputError.of(
        "",
        f"there is no set {shown(name)}; shipped are {printable(known)}, or give a path to a .toml file",
    )
