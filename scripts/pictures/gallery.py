"""Draw the pictures in list.toml, two at a time; see scripts/gallery.

With --check they are compared with the stored ones: byte for byte, or for similarity if those were
drawn on another kind of machine.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from PIL import Image
from pypdfium2 import PdfDocument

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GALLERY = ROOT / "output" / "gallery"
#: Records the kind of machine that drew the pictures in its folder.
KIND_FILE = "drawn-on.txt"
_JOBS = 2
#: Similar pictures differ by at most this much, of 255, in the mean of every tile …
_MOST_APART = 6
#: … of this many across and down.
_SQUARES = (48, 30)
#: Number of characters shown of a differing line of SVG.
_SHOWN = 40
#: Stands for the link of a server.
LINK = "{link}"
#: What pages of challenges take for today.
_DAY = "2026-03-14T12:00:00Z"
#: A busy machine may take as long for a page.
_PATIENCE_MS = 180_000
#: Settles when a web page has its fonts, has been drawn, and has added the pictures that are in
#: sight then.
_DRAWN = """async () => {
  await document.fonts.ready;
  for (const _ of [1, 2]) {
    const { promise, resolve } = Promise.withResolvers();
    const observer = new IntersectionObserver(resolve);
    observer.observe(document.documentElement);
    await promise;
    observer.disconnect();
  } }"""


class GalleryError(Exception):
    """A picture cannot be drawn; the message says which and why."""


@dataclass(frozen=True)
class Picture:
    """A picture of the list.

    Attributes:
        file: name in the gallery.
        command: arguments of fabkit, with placeholders for paths.
        take: the output file that is the picture; empty if the command draws it directly.
        page: page of that PDF file, from 1; 0 if it is not a PDF file.
        wide: width of a page, in pixels.
        shot: address in the output folder of a web page, shown in Chromium; or `LINK`, what the
            command prints, which is a server and ended then.
        shows: text on it that a server computes last; it is drawn once this is there.
        size: width and height of its window.
        dark: whether the page is dark.
        varies: whether it may differ on other machines, as PNG files may.
    """

    file: str
    command: str
    take: str = ""
    page: int = 0
    wide: int = 800
    shot: str = ""
    shows: str = ""
    size: tuple[int, int] = (1200, 750)
    dark: bool = False
    varies: bool = False


@dataclass
class Found:
    """The result of a comparison: a line for each picture.

    Attributes:
        faults: differences that are errors.
        notes: differences due to another kind of machine.
    """

    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def wanted(path: Path = HERE / "list.toml") -> list[Picture]:
    """Read the pictures of a list."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))["pictures"]
    found = [Picture(file, **keys) for file, keys in table.items()]
    return [replace(one, varies=one.varies or one.file.endswith(".png")) for one in found]


# --- where they were drawn ----------------------------------------------------------------------


def drawn_on(picture: Picture) -> list[str]:
    """Return the properties of this machine that affect a picture.

    These are the system (its sines) and the architecture (its instructions). Other properties of
    the processor do not matter: FridgeIQ's picture and plate were the same with AVX-512, with AVX2,
    and without fused multiplication (in QEMU). Pages of PDF files depend on pypdfium2, web pages on
    Chromium.
    """
    lines = [f"{platform.system()} {platform.machine()}"]
    if picture.page:
        lines.append(f"pypdfium2 {version('pypdfium2')}")
    if picture.shot and chromium_version():
        lines.append(chromium_version())
    return lines


@cache
def chromium_version() -> str:
    """Return the name and version of the machine's Chromium; empty if it has none."""
    path = shutil.which("chromium")
    if not path:
        return ""
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    return " ".join(shown.stdout.split()[:2])


def write_kind(pictures: Iterable[Picture], folder: Path) -> None:
    """Record the kind of machine that drew the pictures in a folder."""
    lines = dict.fromkeys(line for one in pictures for line in drawn_on(one))
    (folder / KIND_FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def kind_of(folder: Path) -> list[str]:
    """Return the kind of machine that drew the pictures in a folder; empty if unknown."""
    path = folder / KIND_FILE
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


# --- drawing ------------------------------------------------------------------------------------


def draw_all(pictures: Iterable[Picture], folder: Path) -> None:
    """Draw pictures into a folder.

    Raises:
        GalleryError: if one cannot be drawn.
    """
    with ProcessPoolExecutor(_JOBS, get_context("spawn"), _begin) as pool:
        list(pool.map(_draw, pictures, itertools.repeat(folder)))


def _begin() -> None:
    """Let commands in this process use one core, as the others have processes of their own."""
    from fabkit.jobs import parallel

    os.chdir(ROOT)
    parallel.core_count = lambda: 1


def _draw(picture: Picture, folder: Path) -> None:
    target = folder / picture.file
    with tempfile.TemporaryDirectory() as scratch:
        places = {"file": str(target), "folder": scratch}
        arguments = [word.format(**places) for word in shlex.split(picture.command)]
        if picture.shot == LINK:
            with _serving(arguments, Path(scratch)) as address:
                draw_shot(picture, address, target)
        else:
            _run(picture, arguments)
        if picture.page:
            draw_page(picture, Path(scratch) / picture.take, target)
        elif picture.shot and picture.shot != LINK:
            file, _, fragment = picture.shot.partition("#")
            draw_shot(picture, f"{(Path(scratch) / file).as_uri()}#{fragment}", target)
        elif picture.take:
            shutil.copyfile(Path(scratch) / picture.take, target)
    if not target.is_file():
        raise GalleryError(f"{picture.file}: its command does not draw it")


def draw_page(picture: Picture, book: Path, target: Path) -> None:
    """Draw a page of a PDF file."""
    with PdfDocument(book) as document:
        page = document[picture.page - 1]
        image = page.render(scale=picture.wide / page.get_width()).to_pil()
    image.save(target, optimize=True)


def draw_shot(picture: Picture, address: str, target: Path) -> None:
    """Draw a web page, without the dialog of a first visit, on a fixed day.

    Raises:
        GalleryError: if the page does not come to show what it should.
    """
    from playwright.sync_api import Error, sync_playwright

    width, height = picture.size
    arguments = ["--no-sandbox", "--use-angle=swiftshader", "--force-color-profile=srgb"]
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=arguments
        ) as browser,
    ):
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if picture.dark else "light",
            reduced_motion="reduce",
        )
        page.set_default_timeout(_PATIENCE_MS)
        page.clock.set_fixed_time(_DAY)
        page.goto(address)
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement?.blur()")
        if picture.shows:
            try:
                page.get_by_text(picture.shows).filter(visible=True).first.wait_for()
            except Error as error:
                raise GalleryError(f"{picture.file}: does not show {picture.shows!r}") from error
        page.evaluate(_DRAWN)
        page.screenshot(path=target)
    with Image.open(target) as image:
        image.convert("RGB").save(target, optimize=True)


@contextmanager
def _serving(arguments: list[str], folder: Path) -> Iterator[str]:
    """Run a server in a folder; yields the link that it prints."""
    command = [sys.executable, "-m", "fabkit", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            document = "".join(iter(process.stdout.readline, "}\n")) + "}"
            yield json.loads(document)["url"]
        finally:
            process.terminate()


def _run(picture: Picture, arguments: list[str]) -> None:
    """Run a command in this process, which has loaded its libraries."""
    from fabkit.cli import main

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as errors:
        code = main(arguments)
    if code:
        raise GalleryError(f"{picture.file}: {errors.getvalue().strip()}")


# --- comparing ----------------------------------------------------------------------------------


def compare(
    pictures: Sequence[Picture], made: Path, kept: Path, known: Collection[str] = ()
) -> Found:
    """Compare newly drawn pictures with the stored ones.

    Args:
        pictures: the pictures to compare.
        made: folder of the new pictures.
        kept: folder of the stored pictures.
        known: allowed names of stored files; empty for any.
    """
    found, there = Found(), kind_of(kept)
    for picture in pictures:
        if not (kept / picture.file).is_file():
            found.faults.append(f"{picture.file}: is not there")
            continue
        change = difference(made / picture.file, kept / picture.file)
        if not change:
            continue
        elsewhere = picture.varies and not set(drawn_on(picture)) <= set(there)
        if elsewhere and look_alike(made / picture.file, kept / picture.file):
            kind = ", ".join(there) or "another machine"
            found.notes.append(f"{picture.file}: looks as it did on {kind}; here {change}")
        else:
            found.faults.append(f"{picture.file}: {change}")
    there_too = kept.iterdir() if known and kept.is_dir() else ()
    stray = sorted(one.name for one in there_too if one.name not in known)
    found.faults += [
        f"{name}: no command draws it; see scripts/pictures/list.toml" for name in stray
    ]
    return found


def difference(made: Path, kept: Path) -> str:
    """Describe how two files differ; empty if their bytes are equal."""
    if made.read_bytes() == kept.read_bytes():
        return ""
    return _of_pixels(made, kept) if made.suffix == ".png" else _of_lines(made, kept)


def _of_pixels(made: Path, kept: Path) -> str:
    with Image.open(made) as one, Image.open(kept) as other:
        new, old = (np.asarray(image).astype(int) for image in (one, other))
        if (one.size, one.mode) != (other.size, other.mode):
            is_so, should = (f"{a.width} x {a.height} {a.mode}" for a in (other, one))
            return f"is {is_so}, and should be {should}"
    distance = np.abs(new - old).reshape(*new.shape[:2], -1).max(axis=2)
    if not distance.any():
        return "its pixels are the same, but packed otherwise"
    return f"{np.count_nonzero(distance)} pixels differ, by at most {distance.max()} of 255"


def _of_lines(made: Path, kept: Path) -> str:
    new, old = (path.read_text(encoding="utf-8").splitlines() for path in (made, kept))
    for number, pair in enumerate(itertools.zip_longest(new, old, fillvalue=""), start=1):
        if pair[0] != pair[1]:
            same = itertools.takewhile(lambda two: two[0] == two[1], zip(*pair, strict=False))
            begin = max(sum(1 for _ in same) - _SHOWN // 2, 0)
            should, is_so = (repr(line[begin : begin + _SHOWN]) for line in pair)
            return f"line {number} has {is_so}, and should have {should}"
    return "its line ends differ"


def look_alike(made: Path, kept: Path) -> bool:
    """Return whether two files look the same: pictures tile by tile, drawings by their elements."""
    if made.suffix != ".png":
        return _elements(made) == _elements(kept)
    with Image.open(made) as one, Image.open(kept) as other:
        if one.size != other.size:
            return False
        squares = [
            image.convert("RGB").resize(_SQUARES, Image.Resampling.BOX).tobytes()
            for image in (one, other)
        ]
    return bool(max(abs(a - b) for a, b in zip(*squares, strict=True)) <= _MOST_APART)


def _elements(drawing: Path) -> Counter[tuple[str, ...]]:
    """The elements of a drawing, regardless of its position."""
    root = ElementTree.fromstring(drawing.read_text(encoding="utf-8"))
    sized = root.get("width", ""), root.get("height", "")
    elements = (
        (one.tag, one.get("class", ""), one.get("fill", ""), (one.text or "").strip())
        for one in root.iter()
    )
    return Counter([sized, *elements])


# --- the command --------------------------------------------------------------------------------


def main() -> int:
    """Draw or check the pictures; return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/gallery", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether they are the same")
    parser.add_argument("--only", nargs="+", metavar="FILE", help="only these pictures")
    options = parser.parse_args()
    pictures = wanted()
    names = [one.file for one in pictures]
    unknown = [name for name in options.only or () if name not in names]
    if unknown:
        parser.error(f"there is no picture {unknown[0]}; choose from {', '.join(names)}")
    some = [one for one in pictures if not options.only or one.file in options.only]
    if not chromium_version():
        print("without Chromium, the pictures of web pages are left as they are")
        some = [one for one in some if not one.shot]
    try:
        return _check(some, {KIND_FILE, *names}) if options.check else _renew(some, pictures)
    except GalleryError as error:
        print(error, file=sys.stderr)
        return 3


def _renew(some: list[Picture], pictures: list[Picture]) -> int:
    """Draw into a temporary folder first, so that a failure leaves the gallery unchanged."""
    others = {
        line for one in pictures if one not in some and not one.shot for line in drawn_on(one)
    }
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
