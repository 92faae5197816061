"""Draws the pictures that list.toml names, two at a time; see scripts/gallery."""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compare import compare
from listed import HERE, KIND_FILE, Picture, drawn_on, kind_of, wanted, write_kind

ROOT = HERE.parent.parent
GALLERY = ROOT / "output" / "gallery"
_JOBS = 2


class GalleryError(Exception):
    """The pictures cannot be drawn; the message says which and why."""


def draw_all(pictures: list[Picture], folder: Path) -> None:
    """Draws pictures into a folder.

    Raises:
        GalleryError: when one cannot be drawn.
    """
    with ThreadPoolExecutor(_JOBS) as pool:
        list(pool.map(lambda one: _draw(one, folder), pictures))


def _draw(picture: Picture, folder: Path) -> None:
    target = folder / picture.file
    with tempfile.TemporaryDirectory() as scratch:
        places = {"file": str(target), "folder": scratch}
        words = [word.format(**places) for word in shlex.split(picture.command)]
        _run(picture, [sys.executable, "-m", "fabkit", *words])
        if picture.page:
            _draw_page(picture, Path(scratch) / picture.take, target)
        elif picture.take:
            shutil.copyfile(Path(scratch) / picture.take, target)
    if not target.is_file():
        raise GalleryError(f"{picture.file}: its command does not draw it")


def _draw_page(picture: Picture, book: Path, target: Path) -> None:
    number, wide = str(picture.page), str(picture.wide)
    command = ["pdftoppm", "-png", "-singlefile", "-f", number, "-l", number]
    size = ["-scale-to-x", wide, "-scale-to-y", "-1"]
    _run(picture, [*command, *size, str(book), str(target.with_suffix(""))])


def _run(picture: Picture, command: list[str]) -> None:
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise GalleryError(f"{picture.file}: {command[0]} is needed, and was not found") from None
    if done.returncode:
        raise GalleryError(f"{picture.file}: {done.stderr.strip() or done.stdout.strip()}")


def main() -> int:
    """Draws, or checks; the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/gallery", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether they are the same")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="only these pictures")
    asked = parser.parse_args()
    pictures = wanted()
    names = [one.file for one in pictures]
    unknown = [name for name in asked.only or () if name not in names]
    if unknown:
        parser.error(f"there is no picture {unknown[0]}; there are {', '.join(names)}")
    some = [one for one in pictures if not asked.only or one.file in asked.only]
    try:
        return _check(some, {KIND_FILE, *names}) if asked.check else _renew(some, pictures)
    except GalleryError as error:
        print(error, file=sys.stderr)
        return 3


def _renew(some: list[Picture], pictures: list[Picture]) -> int:
    """Draws beside the gallery first: what cannot be drawn takes nothing away."""
    others = {line for one in pictures if one not in some for line in drawn_on(one)}
    if not others <= set(kind_of(GALLERY)):
        raise GalleryError("the others were drawn elsewhere, or never; draw all, without --only")
    with tempfile.TemporaryDirectory() as scratch:
        draw_all(some, Path(scratch))
        write_kind(pictures, Path(scratch))
        GALLERY.mkdir(parents=True, exist_ok=True)
        for path in sorted(Path(scratch).iterdir()):
            shutil.copyfile(path, GALLERY / path.name)
    print(f"drew {len(some)} pictures in {GALLERY.relative_to(ROOT)}")
    return 0


def _check(some: list[Picture], names: set[str]) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        draw_all(some, Path(scratch))
        found = compare(some, Path(scratch), GALLERY, names)
    for note in found.notes:
        print(note)
    for fault in found.faults:
        print(fault, file=sys.stderr)
    if found.faults:
        print(
            "the pictures are not those that the program draws; run scripts/gallery",
            file=sys.stderr,
        )
        return 1
    print("the pictures are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
