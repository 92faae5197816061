"""Whether pictures are the same: byte for byte, or as alike as another kind of machine draws them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from listed import Picture, drawn_on, kind_of
from PIL import Image

#: Pictures that look alike differ by at most this much, of 255, in the mean of every square …
_MOST_APART = 6
#: … of so many across and down.
_SQUARES = (48, 30)
#: Of a line of SVG that differs so many characters are shown.
_SHOWN = 40


@dataclass
class Found:
    """What a comparison found.

    Attributes:
        faults: what must not be, a line for each picture.
        notes: what may be, since the pictures were drawn on something else.
    """

    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def compare(
    pictures: Sequence[Picture], made: Path, kept: Path, known: Collection[str] = ()
) -> Found:
    """Compares two folders of pictures.

    Args:
        pictures: those that are compared.
        made: a folder with the pictures as they are drawn here.
        kept: a folder with the pictures as they are kept.
        known: the names that a kept file may have; whatever when empty.
    """
    found = Found()
    there = kind_of(kept)
    for picture in pictures:
        if not (kept / picture.file).is_file():
            found.faults.append(f"{picture.file}: is not there")
            continue
        apart = difference(made / picture.file, kept / picture.file)
        if not apart:
            continue
        elsewhere = picture.varies and not set(drawn_on(picture)) <= set(there)
        if elsewhere and look_alike(made / picture.file, kept / picture.file):
            kind = ", ".join(there) or "another machine"
            found.notes.append(f"{picture.file}: looks as it did on {kind}; here {apart}")
        else:
            found.faults.append(f"{picture.file}: {apart}")
    there_too = kept.iterdir() if known and kept.is_dir() else ()
    stray = sorted(one.name for one in there_too if one.name not in known)
    found.faults += [
        f"{name}: no command draws it; see scripts/pictures/list.toml" for name in stray
    ]
    return found


def difference(made: Path, kept: Path) -> str:
    """How two files differ, in words; nothing when they are the same, byte for byte."""
    if made.read_bytes() == kept.read_bytes():
        return ""
    return _of_pixels(made, kept) if made.suffix == ".png" else _of_lines(made, kept)


def _of_pixels(made: Path, kept: Path) -> str:
    with Image.open(made) as one, Image.open(kept) as other:
        new, old = (np.asarray(image).astype(int) for image in (one, other))
        if (one.size, one.mode) != (other.size, other.mode):
            is_so, should = (f"{a.width} x {a.height} {a.mode}" for a in (other, one))
            return f"is {is_so}, and should be {should}"
    apart = np.abs(new - old).reshape(*new.shape[:2], -1).max(axis=2)
    if not apart.any():
        return "its pixels are the same, but packed otherwise"
    return f"{np.count_nonzero(apart)} pixels differ, by at most {apart.max()} of 255"


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
    """Whether two files show the same: pictures square for square, drawings the same things."""
    if made.suffix == ".png":
        return _same_squares(made, kept)
    return _things(made) == _things(kept)


def _same_squares(made: Path, kept: Path) -> bool:
    with Image.open(made) as one, Image.open(kept) as other:
        if one.size != other.size:
            return False
        squares = [
            image.convert("RGB").resize(_SQUARES, Image.Resampling.BOX).tobytes()
            for image in (one, other)
        ]
    return bool(max(abs(a - b) for a, b in zip(*squares, strict=True)) <= _MOST_APART)


def _things(drawing: Path) -> Counter[tuple[str, ...]]:
    """What a drawing consists of, wherever it lies."""
    root = ElementTree.fromstring(drawing.read_text(encoding="utf-8"))
    sized = root.get("width", ""), root.get("height", "")
    things = (
        (one.tag, one.get("class", ""), one.get("fill", ""), (one.text or "").strip())
        for one in root.iter()
    )
    return Counter([sized, *things])
