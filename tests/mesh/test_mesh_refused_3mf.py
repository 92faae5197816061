"""What is wrong with a 3MF file is told in one message, without much memory."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import meshfiles as files
from tests.support.meshfiles import PART, archive, components, model, object3mf, package
from tests.support.refusals import FAR, message

# --- the archive ----------------------------------------------------------------------------


def changed(pattern: bytes, offset: int, value: bytes) -> Callable[[], bytes]:
    """A package in which some bytes behind the last such mark are others."""

    def make() -> bytes:
        content = bytearray(package())
        at = content.rindex(pattern) + offset
        content[at : at + len(value)] = value
        return bytes(content)

    return make


def named(name: str) -> Callable[[], bytes]:
    return lambda: package(more=[(name, b"x")])


def link() -> bytes:
    entry = zipfile.ZipInfo("3D/link")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    return archive([(entry, "/etc/passwd")])


def overlapping() -> bytes:
    """Two entries of the directory stand for the same bytes."""
    content = bytearray(archive([("a.model", "x" * 50), ("b.model", "x" * 50)], zipfile.ZIP_STORED))
    second = content.rindex(b"PK\x01\x02")
    content[second + 42 : second + 46] = bytes(4)
    return bytes(content)


CENTRAL, LEADS_OUT = (
    b"PK\x01\x02",
    "has a name that leads out of the archive; expected a plain path",
)
MODEL_ENTRY = f'entry "{PART}"'
DAMAGED = "is an incomplete or damaged archive"

ARCHIVES: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut": (lambda: package()[:-30], f"{DAMAGED}: File is not a zip file"),
    "end-only": (lambda: b"PK\x05\x06" + bytes(18), "is a zip archive and no 3MF file: it lacks _rels/.rels"),
    "no-3mf": (lambda: archive([("a.stl", "x")]), "is a zip archive and no 3MF file: it lacks _rels/.rels"),
    "absolute": (named("/etc/passwd"), f'entry "/etc/passwd": {LEADS_OUT}'),
    "up": (named("3D/../../a"), f'entry "3D/../../a": {LEADS_OUT}'),
    "backslash": (named("3D\\a"), f'entry "3D\\a": {LEADS_OUT}'),
    "drive": (named("C:/a"), f'entry "C:/a": {LEADS_OUT}'),
    "escape": (named("\x1b[1m"), r'entry "\x1b[1m": has a name with characters that cannot be printed'),
    "twice": (named(PART.upper()), f'entry "{PART.upper()}": is there twice'),
    "link": (link, 'entry "3D/link": is a link or a device; expected a file'),
    "encrypted": (
        changed(CENTRAL, 8, b"\x01"),
        f"{MODEL_ENTRY}: is encrypted; expected a 3MF file without a password",
    ),
    "lzma": (changed(CENTRAL, 10, b"\x0e"), f"{MODEL_ENTRY}: is compressed by method 14; expected deflate"),
    "overlap": (overlapping, 'entry "b.model": overlaps another entry'),
    "runs-out": (
        changed(CENTRAL, 20, b"\0\0\1"),
        "is an incomplete or damaged archive: an entry runs out of it",
    ),
    "checksum": (changed(CENTRAL, 16, b"\0\0"), f"{MODEL_ENTRY}: {DAMAGED}: Bad CRC-32 for file '{PART}'"),
    "many-entries": (
        lambda: archive([(f"{i}", "") for i in range(2001)]),
        "is an archive of more than 2000 entries",
    ),
    "many-marks": (lambda: b"PK\x03\x04" + CENTRAL * 1_000_000, "is an archive of more than 2000 entries"),
    "bomb": (
        lambda: package(model(head=" " * 60_000_000)),
        f"{MODEL_ENTRY}: inflates from A to B bytes; expected at most 200 times as much",
    ),
    "quiet-bomb": (  # it says that it is small
        lambda: declared(package(model(head=" " * 60_000_000)), 2000),
        f"{MODEL_ENTRY}: {DAMAGED}: Bad CRC-32 for file '{PART}'",
    ),
    "many-bombs": (
        lambda: archive([(f"{i}", bytes(1024**2)) for i in range(600)]),
        "inflates to more than 512 MiB",
    ),
    "announces-more": (
        changed(CENTRAL, 24, struct.pack("<I", 5000)),
        f"{MODEL_ENTRY}: inflates to {len(model())} bytes; announced are 5000",
    ),
}  # fmt: skip


def declared(content: bytes, size: int) -> bytes:
    at = content.rindex(CENTRAL) + 24
    return content[:at] + struct.pack("<I", size) + content[at + 4 :]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(*one, id=name, marks=[pytest.mark.integration] * (name == "many-bombs"))
        for name, one in ARCHIVES.items()
    ],
)
def test_archives(make: Callable[[], bytes], expected: str, tmp_path: Path) -> None:
    assert message(tmp_path, "a.3mf", make()) == f"a.3mf: {expected}"


# --- the model ------------------------------------------------------------------------------

ITEM = f"{PART}: item 1"
OBJECT = f"{PART}: object 1"


def stored(text: str) -> bytes:
    """Without compression, so that no ratio gives it away."""
    return archive([("_rels/.rels", files.relationships()), (PART, text)], zipfile.ZIP_STORED)


def placing(transform: str) -> bytes:
    return package(model(build=f'<item objectid="1" transform="{transform}"/>'))


def chain(count: int, times: int = 1) -> bytes:
    """Each object is so many times a component of the next."""
    parts = (components(i, *[f'objectid="{i - 1}"'] * times) for i in range(2, count + 1))
    return package(model(object3mf() + "".join(parts), f'<item objectid="{count}"/>'))


def with_mesh(old: str, new: str) -> bytes:
    return package(model(object3mf(1, files.mesh().replace(old, new, 1))))


def inside(text: str) -> bytes:
    return stored(model(f"<metadata>{text}</metadata>" + object3mf()))


ENTITIES = "<!DOCTYPE m [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"
EXTERNAL = '<!DOCTYPE m SYSTEM "file:///etc/passwd">'
DOCTYPE = f"{PART}: has a document type (DOCTYPE), which 3MF forbids"
LONG = f"{PART}: has a tag or comment longer than 2097152 bytes"
TWELVE = "1 0 0 0 1 0 0 0 1 0 0 "
CUBE = "1 0 0 0 1 0 0 0 1 "

MODELS: dict[str, tuple[Callable[[], bytes], str]] = {
    "no-model": (
        lambda: package(rels=files.relationships("/3D/other.model")),
        '_rels/.rels: names the part "/3D/other.model", which the file lacks',
    ),
    "no-relationship": (
        lambda: package(rels=files.relationships().replace("3dmodel", "thumbnail")),
        "_rels/.rels: expected one 3D model, found 0",
    ),
    "model-elsewhere": (
        lambda: package(rels=files.relationships("http://a/b", 'TargetMode="External"')),
        "_rels/.rels: its 3D model is outside of the file; expected it inside",
    ),
    "model-outside": (
        lambda: package(rels=files.relationships("/../../etc/passwd")),
        '_rels/.rels: names the part "/../../etc/passwd", which the file lacks',
    ),
    "part-outside": (
        lambda: package(model(build='<item objectid="1" p:path="/3D/../a.model"/>')),
        f'{ITEM}: names the part "/3D/../a.model", which the file lacks',
    ),
    "no-xml": (lambda: package("none"), f"{PART}: is not well-formed XML: syntax error: line 1, column 0"),
    "cut-xml": (
        lambda: package(model()[:600]),
        f"{PART}: is not well-formed XML: unclosed token: line 1, column {model()[:600].rindex('<')}",
    ),
    "other-xml": (lambda: package("<svg/>"), f"{PART}: does not begin with the element of a 3MF part"),
    "entities": (lambda: package(model(head=ENTITIES)), DOCTYPE),
    "external": (lambda: package(model(head=EXTERNAL)), DOCTYPE),
    "entity": (
        lambda: package(model().replace("<build>", "&a;<build>")),
        f"{PART}: is not well-formed XML: undefined entity: line 1, column {model().index('<build>')}",
    ),
    "comment": (lambda: inside(f"<!--{'>' * 40_000_000}-->"), LONG),
    "instruction": (lambda: inside(f"<?x {'>' * 40_000_000}?>"), LONG),
    "attribute": (lambda: inside(f"<x y='{'>' * 40_000_000}'/>"), LONG),
    "names": (
        lambda: inside("".join(f"<a{i}/>" for i in range(500_000))),
        f"{PART}: has more than 10000 names of elements",
    ),
    "namespaces": (
        lambda: inside("".join(f"<a xmlns='{i}'/>" for i in range(20_000))),
        f"{PART}: declares more than 10000 namespaces",
    ),
    "deep": (lambda: inside("<x>" * 1_000_000), f"{PART}: nests elements deeper than 100"),
    "unit": (
        lambda: package(model(unit="mile")),
        f'{PART}: unknown unit "mile"; expected one of micron, millimeter, centimeter, inch, foot, meter',
    ),
    "extension": (
        lambda: package(model().replace("xmlns:p", 'requiredextensions="b" xmlns:b="urn:beams" xmlns:p')),
        f'{PART}: needs an extension of 3MF that fabkit does not read, "urn:beams"; export it as a plain mesh',
    ),
    "no-build": (lambda: package(model(build="")), f"{PART}: has nothing to build; add its objects to the build"),
    "no-object": (lambda: package(model(build='<item objectid="9"/>')), f'{ITEM}: there is no object 9 in "{PART}"'),
    "object-number": (lambda: package(model(build='<item objectid="x"/>')), f'{ITEM}: expected a whole number, found "x"'),
    "object-twice": (lambda: package(model(object3mf() * 2)), f"{OBJECT}: there are two objects with this number"),
    "object-empty": (lambda: package(model('<object id="1"/>')), f"{OBJECT}: expected either a mesh or components"),
    "two-meshes": (lambda: package(model(object3mf(1, files.mesh() * 2))), f"{OBJECT}: has two meshes"),
    "no-triangles": (
        lambda: package(model(object3mf(1, files.mesh(faces=files.FACES[:0])))),
        f"{OBJECT}: its mesh has no triangles",
    ),
    "index": (
        lambda: with_mesh('v3="3"', 'v3="8"'),
        f"{OBJECT}, triangle 1: names vertices 0, 1, 8; there are 8, counted from 0",
    ),
    "negative": (
        lambda: with_mesh('v3="3"', 'v3="-1"'),
        f"{OBJECT}, triangle 1: names vertices 0, 1, -1; there are 8, counted from 0",
    ),
    "index-huge": (
        lambda: with_mesh('v3="3"', f'v3="{"9" * 9999}"'),
        f'{OBJECT}, triangle 1: expected a whole number, found "{"9" * 59}…"',
    ),
    "lacks": (lambda: with_mesh('v3="3"', ""), f'{OBJECT}: a triangle lacks "v3"'),
    "lacks-z": (lambda: with_mesh('z="3"', ""), f'{OBJECT}: a vertex lacks "z"'),
    "nan": (lambda: with_mesh('z="3"', 'z="NaN"'), f'{OBJECT}, vertex 2: expected a number, found "NaN"'),
    "far": (lambda: with_mesh('z="3"', 'z="1e7"'), f"{ITEM}, triangle 1: a corner is at (0, 0, 1e+07); {FAR}"),
    "transform-11": (lambda: placing(TWELVE), f"{ITEM}: a transform has 12 numbers, this one 11"),
    "transform-nan": (lambda: placing(TWELVE + "nan"), f'{ITEM}: expected a number, found "nan"'),
    "transform-far": (lambda: placing(TWELVE + "1e999"), f"{ITEM}: a transform has a number that is too large for a computer"),
    "transform-flat": (
        lambda: placing(CUBE.replace("1 0 0 0 1", "1 0 0 1 0") + "0 0 0"),
        f"{ITEM}: a transform flattens an object; expected its size kept",
    ),
    "cycle": (
        lambda: package(model(components(1, 'objectid="2"') + components(2, 'objectid="1"'))),
        f"{ITEM}: object 1 is a component of itself",
    ),
    "chain": (lambda: chain(5000), f"{ITEM}: nests components deeper than 32"),
    "long-chain": (lambda: chain(10_001), "holds more than 10000 objects"),
    "doubling": (lambda: chain(30, times=2), "holds more than 1000 bodies; split it into several files"),
    "many-components": (
        lambda: package(model(object3mf() + components(2, *['objectid="1"'] * 20_001))),
        "holds more than 20000 components and items",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), MODELS.values(), ids=MODELS)
def test_models(make: Callable[[], bytes], expected: str, tmp_path: Path) -> None:
    assert message(tmp_path, "a.3mf", make()) == f"a.3mf: {expected}"


def test_components_that_multiply_triangles(tmp_path: Path) -> None:
    strip = files.mesh(faces=files.FACES[[0] * 10_000])
    text = model(
        object3mf(1, strip) + components(2, *['objectid="1"'] * 300), '<item objectid="2"/>'
    )
    said = "holds more than 2000000 triangles; make the mesh coarser"
    assert message(tmp_path, "a.3mf", stored(text)) == f"a.3mf: {said}"
