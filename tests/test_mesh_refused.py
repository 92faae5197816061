"""What is wrong with a mesh file is told in one message, soon and without much memory."""

from __future__ import annotations

import re
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fabkit.base.errors import InputError
from fabkit.mesh.reading import read_bodies
from tests import meshfiles as files
from tests.meshfiles import (
    PART,
    archive,
    ascii_stl,
    binary_stl,
    components,
    model,
    object3mf,
    package,
)

#: Guards against hangs and bombs; nearly all files take some hundredths of a second.
LIMIT_S = 10.0
SPARE_BYTES = 30_000_000


def message(folder: Path, name: str, content: bytes | str) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as refusal:
        read_bodies(path)
    return str(refusal.value).replace(f"{folder}/", "")


# --- STL, OBJ, and neither ------------------------------------------------------------------

NO_STL = (
    "is no STL file: a binary one has a header of 84 bytes, an ASCII one begins with "
    '"solid"; found '
)
FACET = "expected a facet with three vertices, or endsolid"
FAR = "expected numbers from -1000000 to 1000000"


def with_vertex(text: str) -> str:
    return ascii_stl().replace("vertex 0 0 3.000000e+00", f"vertex {text}", 1)


def with_corner(value: float) -> bytes:
    return binary_stl()[:96] + struct.pack("<f", value) + binary_stl()[100:]


PLAIN: dict[str, tuple[str, bytes | str, str]] = {
    "empty": ("a.stl", b"", "is empty; expected an STL, 3MF or OBJ file"),
    "unknown": ("a.ply", "ply\n", "is of no known kind; expected an STL, 3MF or OBJ file"),
    "no-zip": ("a.3mf", "solid\0", "is no 3MF file: it is no zip archive"),
    "text": ("a.stl", "hello \x1b[31m\n", NO_STL + r'"hello \x1b[31m\n"'),
    "truncated": (
        "a.stl",
        binary_stl()[:-7],
        "is no complete STL file: its header announces 12 triangles, which take 684 bytes, and it "
        "has 677; export it again",
    ),
    "truncated-solid": (
        "a.stl",
        binary_stl(header=b"solid box")[:-50],
        "is no complete STL file: its header announces 12 triangles, which take 684 bytes, and it "
        "has 634; export it again",
    ),
    "longer": (
        "a.stl",
        binary_stl() + b"\0",
        "is no complete STL file: its header announces 12 triangles, which take 684 bytes, and it "
        "has 685; export it again",
    ),
    "claims-2-gb": (
        "a.stl",
        binary_stl(count=42_949_672),
        "is no complete STL file: its header announces 42949672 triangles, which take 2147483684 "
        "bytes, and it has 684; export it again",
    ),
    "header-only": ("a.stl", binary_stl()[:60], NO_STL + '"' + (r"\x00" * 15)[:59] + '…"'),
    "no-triangles": ("a.stl", binary_stl(count=0)[:84], "holds no triangles"),
    "no-facets": ("a.stl", "solid a\nendsolid a\n", "holds no triangles"),
    "nan": ("a.stl", with_corner(float("nan")), f"triangle 1: a corner is at (nan, 0, 0); {FAR}"),
    "inf": ("a.stl", with_corner(float("-inf")), f"triangle 1: a corner is at (-inf, 0, 0); {FAR}"),
    "far": ("a.stl", with_corner(2e6), f"triangle 1: a corner is at (2e+06, 0, 0); {FAR}"),
    "ascii-nan": ("a.stl", with_vertex("nan 0 0"), 'triangle 1: expected a number, found "nan"'),
    "ascii-python": ("a.stl", with_vertex("0 1_0 0"), 'triangle 1: expected a number, found "1_0"'),
    "ascii-inf": (
        "a.stl",
        with_vertex("1e999 0 0"),
        f"triangle 1: a corner is at (inf, 0, 0); {FAR}",
    ),
    "ascii-two": ("a.stl", with_vertex("0 0"), f'line 2: {FACET}, found "  facet normal 0 0 nan"'),
    "ascii-cut": ("a.stl", ascii_stl()[:500], f'line 16: {FACET}, found "facet normal 0 0 nan"'),
    "ascii-no-end": (
        "a.stl",
        ascii_stl().replace("endsolid box", ""),
        f"ends too early; {FACET}; export it again",
    ),
    "ascii-more": (
        "a.stl",
        ascii_stl() + "more",
        'line 87: expected solid, or the end of the file, found "more"',
    ),
    "zero": ("a.obj", files.obj() + "f 0 1 2\n", "line 15: a face names vertex 0; the vertices so far are 8"),
    "beyond": ("a.obj", files.obj() + "f 1 2 9\n", "line 15: a face names vertex 9; the vertices so far are 8"),
    "negative": ("a.obj", files.obj() + "f -9 1 2\n", "line 15: a face names vertex -9; the vertices so far are 8"),
    "fraction": ("a.obj", "v 0 0 0\nf 1 1.5 1\n", 'line 2: expected a whole number, found "1.5"'),
    "two-corners": ("a.obj", "v 0 0 0\nf 1 1\n", "line 2: a face has 3 to 1000 corners, this one 2"),
    "huge-polygon": (
        "a.obj",
        "v 0 0 0\nf " + "1 " * 1001,
        "line 2: a face has 3 to 1000 corners, this one 1001; cut it into triangles",
    ),
    "many-polygons": (
        "a.obj",
        "v 0 0 0\n" + ("f " + "1 " * 1000 + "\n") * 501,
        "holds too many large polygons; cut its faces into triangles",
    ),
    "long-line": ("a.obj", "v 0 0 0\nf " + "1 " * 10_000_000, "line 2: is longer than 65536 bytes"),
    "half-line": ("a.obj", "v 0 0 0\nf 1 \\", "line 2: the file ends in the middle of a statement"),
    "two-numbers": ("a.obj", "v 0 0\n", "line 1: expected three coordinates, found 2"),
    "obj-nan": ("a.obj", "v 0 0 nan\n", 'line 1: expected a number, found "nan"'),
    "obj-far": (
        "a.obj",
        "v 0 -1e999 5\n",
        'line 1: expected coordinates from -1000000 to 1000000, found "-1e999"',
    ),
    "no-faces": ("a.obj", "v 0 0 0\n", "holds no faces; expected a solid's surface"),
    "calls": (
        "a.obj",
        "v 0 0 0\ncsh -rm\n",
        'line 2: unknown statement "csh"; expected an OBJ file of polygons, with v, f, o and g',
    ),
    "many-bodies": (
        "a.obj",
        "v 0 0 0\n" + "o a\nf 1 1 1\n" * 1001,
        "holds more than 1000 bodies; split it into several files",
    ),
    "many-lines": ("a.obj", "v 0 0 0\n" * 16_000_000, "has more than 15000000 lines; make the mesh coarser"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "expected"), PLAIN.values(), ids=PLAIN)
def test_stl_and_obj(name: str, content: bytes | str, expected: str, tmp_path: Path) -> None:
    start = time.monotonic()
    assert message(tmp_path, name, content) == f"{name}: {expected}"
    assert time.monotonic() - start < LIMIT_S


def test_more_triangles_than_are_read(tmp_path: Path) -> None:
    said = "a.stl: holds more than 2000000 triangles; make the mesh coarser"
    many = 2_000_001
    assert (
        message(tmp_path, "a.stl", bytes(80) + struct.pack("<I", many) + bytes(50 * many)) == said
    )


def test_large_files_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.stl").open("wb") as file:
        file.truncate(300 * 1024**2)
    with pytest.raises(InputError, match=r"a\.stl: is larger than 256 MiB; make the mesh coarser$"):
        read_bodies(tmp_path / "a.stl")


@pytest.mark.parametrize("name", ["none.stl", "folder.3mf"])
def test_what_is_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.3mf").mkdir()
    with pytest.raises(InputError, match=r"there is no such file|is a folder; expected an STL"):
        read_bodies(tmp_path / name)


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
    "garbage": (lambda: package().replace(b"model\xdd", b"model\xff"), ""),
    "many-entries": (
        lambda: archive([(f"{i}", "") for i in range(2001)]),
        "is an archive of more than 2000 entries",
    ),
    "many-marks": (lambda: b"PK\x03\x04" + CENTRAL * 1_000_000, "is an archive of more than 2000 entries"),
    "bomb": (
        lambda: package(model(head=" " * 200_000_000)),
        f"{MODEL_ENTRY}: inflates from 194895 to 200001352 bytes; expected at most 200 times as much",
    ),
    "quiet-bomb": (  # it says that it is small
        lambda: declared(package(model(head=" " * 200_000_000)), 2000),
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
del ARCHIVES["garbage"]


def declared(content: bytes, size: int) -> bytes:
    at = content.rindex(CENTRAL) + 24
    return content[:at] + struct.pack("<I", size) + content[at + 4 :]


@pytest.mark.parametrize(("make", "expected"), ARCHIVES.values(), ids=ARCHIVES)
def test_archives(make: Callable[[], bytes], expected: str, tmp_path: Path) -> None:
    refused_soon(make(), expected, tmp_path)


def refused_soon(content: bytes, expected: str, folder: Path) -> None:
    start = time.monotonic()
    tracemalloc.start()
    try:
        said = message(folder, "a.3mf", content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert said == f"a.3mf: {expected}"
    assert time.monotonic() - start < LIMIT_S
    assert peak < 4 * len(content) + SPARE_BYTES


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
    "no-xml": (lambda: package("\0"), f"{PART}: is not well-formed XML: not well-formed (invalid token): line 1, column 0"),
    "cut-xml": (
        lambda: package(model()[:1000]),
        f"{PART}: is not well-formed XML: unclosed token: line 1, column {model()[:1000].rindex('<')}",
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
    "far": (lambda: with_mesh('z="3"', 'z="1e7"'), f"{ITEM}, triangle 2: a corner is at (0, 2, 1e+07); {FAR}"),
    "transform-11": (lambda: placing(TWELVE), f"{ITEM}: a transform has 12 numbers, this one 11"),
    "transform-nan": (lambda: placing(TWELVE + "nan"), f'{ITEM}: expected a number, found "nan"'),
    "transform-far": (lambda: placing(TWELVE + "1e999"), f"{ITEM}, triangle 1: a corner is at (0, 0, inf); {FAR}"),
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
    refused_soon(make(), expected, tmp_path)


def test_components_that_multiply_triangles(tmp_path: Path) -> None:
    strip = files.mesh(faces=files.FACES[[0] * 10_000])
    text = model(
        object3mf(1, strip) + components(2, *['objectid="1"'] * 300), '<item objectid="2"/>'
    )
    said = "holds more than 2000000 triangles; make the mesh coarser"
    assert message(tmp_path, "a.3mf", stored(text)) == f"a.3mf: {said}"


def test_nothing_is_written_to_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, content, _ in PLAIN.values():
        if len(content) < 1_000_000:
            assert not re.search(r"[\n\x1b]", message(tmp_path, name, content))
    assert capfd.readouterr() == ("", "")
