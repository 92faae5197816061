"""What is wrong with a mesh file is told in one message, and takes little memory."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from fabkit.core.errors import InputError
from fabkit.mesh.files.reading import read_bodies
from tests.support import meshfiles as files
from tests.support.meshfiles import archive, ascii_stl, binary_stl, components, model, object3mf
from tests.support.meshfiles import package as zipped

SHORT = "which take 684 bytes, and it has"
FACET = "expected a facet with three vertices, or endsolid, found"
FAR = "expected numbers of at most 1000000"
COARSE = "holds more than 2000000 triangles; make the mesh coarser"
NOTHING = "holds no triangles; expected a solid's surface"
PART, PLACE = "3d/3dmodel.model", '3d/3dmodel.model: object "1"'


def vertex(text: str) -> str:
    return ascii_stl().replace("vertex 0 0 3.000000e+00", f"vertex {text}", 1)


def corner(value: float) -> bytes:
    return binary_stl()[:96] + struct.pack("<f", value) + binary_stl()[100:]


TEXTS: dict[str, tuple[str, bytes | str, str]] = {
    "empty": ("a.stl", b"", "is empty; expected an STL, 3MF, OBJ, PLY, OFF or GLB file"),
    "unknown": ("a.step", "ISO\n", "is of no known kind; expected an STL"),
    "text": ("a.stl", "hello \x1b[31m\n", r'one begins with "solid"; found "hello \x1b[31m\n"'),
    "truncated": ("a.stl", binary_stl()[:-7], f"announces 12 triangles, {SHORT} 677; export it again"),
    "2-gb": ("a.stl", binary_stl(count=42_949_672), "announces 42,949,672 triangles, which take 214"),
    "no-triangles": ("a.stl", binary_stl(count=0)[:84], NOTHING),
    "nan": ("a.stl", corner(float("nan")), f"triangle 1: has a corner at (nan, 0, 0); {FAR}"),
    "far": ("a.stl", corner(2e6), f"triangle 1: has a corner at (2e+06, 0, 0); {FAR}"),
    "ascii-nan": ("a.stl", vertex("nan 0 0"), f'line 2: {FACET} "facet normal 0 0 nan"'),
    "ascii-inf": ("a.stl", vertex("1e999 0 0"), f"triangle 1: has a corner at (inf, 0, 0); {FAR}"),
    "ascii-cut": ("a.stl", ascii_stl()[:500], f"line 23: {FACET}"),
    "ascii-no-end": ("a.stl", ascii_stl().replace("endsolid box", ""), f"{FACET} its end"),
    "ascii-second": ("a.stl", ascii_stl() + ascii_stl()[:-20], f"line 165: {FACET}"),
    "ascii-more": ("a.stl", ascii_stl() + "more", 'line 87: expected solid, or the end, found "more"'),
    "zero": ("a.obj", files.obj() + "f 0 1 2\n", "line 15: a face names vertex 0; the vertices so far are 8"),
    "beyond": ("a.obj", files.obj() + "f 1 2 9\n", "names vertex 8, counted from 0; there are 8"),
    "negative": ("a.obj", files.obj() + "f -9 1 2\n", "line 15: a face names vertex -9; the vertices so"),
    "fraction": ("a.obj", "v 0 0 0\nf 1 1.5 1\n", 'line 2: expected numbers, found "f 1 1.5 1"'),
    "obj-two": ("a.obj", "v 0 0 0\nf 1 1\n", "has a face with 2 corners; expected 3 to 1000"),
    "long-line": ("a.obj", "v 0 0 0\nf " + "1 " * 10_000_000, "line 2: is longer than 65536 bytes"),
    "half-line": ("a.obj", "v 0 0 0\nf 1 \\", "the file ends in the middle of a line"),
    "two-numbers": ("a.obj", "v 0 0\n", 'line 1: expected numbers, found "v 0 0"'),
    "obj-nan": ("a.obj", "v 0 0 nan\nf 1 1 1\n", f"triangle 1: has a corner at (0, 0, nan); {FAR}"),
    "no-faces": ("a.obj", "v 0 0 0\n", NOTHING),
    "calls": ("a.obj", "v 0 0 0\ncsh -rm\n", 'line 2: unknown statement "csh"; expected an OBJ file'),
    "many": ("a.obj", "v 0 0 0\n" + "o a\nf 1 1 1\n" * 1001, "holds more than 1000 bodies; split it"),
    "off-cut": ("a.off", files.off()[:-30], "counts 8 vertices and 6 faces, and has 1"),
    "off-beyond": ("a.off", "OFF 1 1 0\n0 0 0\n3 0 0 1\n", "names vertex 1, counted from 0; there are 1"),
    "ply-cut": ("a.ply", files.ply()[:-12], "announces 6 face lines and has 5; export it again"),
    "ply-short": ("a.ply", files.ply(binary=True)[:-4], "cannot be read as PLY (PLY is unexpected length!)"),
    "ply-beyond": ("a.ply", files.ply(polygons=[(0, 1, 8)]), "names vertex 8, counted from 0; there are 8"),
    "ply-points": ("a.ply", files.ply(polygons=[]), NOTHING),
    "glb-cut": ("a.glb", files.glb()[:-10], "cannot be read as GLB (chunk was not expected length!)"),
    "glb-draco": (
        "a.glb",
        files.glb(extensionsRequired=["KHR_draco_mesh_compression"]),
        'needs "KHR_draco_mesh_compression", which fabkit does not read; export plain meshes',
    ),
    "glb-lost": ("a.glb", files.glb(scenes=[{"nodes": []}]), NOTHING),
    "no-zip": ("a.3mf", "solid\0", "cannot be read as 3MF (File is not a zip file); export it again"),
}  # fmt: skip


def refused(folder: Path, name: str, content: bytes | str) -> str:
    """What is said of a file, without the folder."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as refusal:
        read_bodies(path)
    assert str(refusal.value).isprintable()
    return str(refusal.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(("name", "content", "expected"), TEXTS.values(), ids=TEXTS)
def test_files(
    name: str,
    content: bytes | str,
    expected: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    said = refused(tmp_path, name, content)
    assert said.startswith(f"{name}: ")
    assert expected in said
    assert capfd.readouterr() == ("", "")


# --- 3MF ------------------------------------------------------------------------------------

TWELVE, CUBE = "1 0 0 0 1 0 0 0 1 0 0 ", "1 0 0 0 1 0 0 0 1 "
BEAMS = 'requiredextensions="b" xmlns:b="urn:beams" xmlns:p'


def changed(offset: int, value: bytes) -> Callable[[], bytes]:
    """A package whose model is described otherwise in the archive's directory."""

    def make() -> bytes:
        content = bytearray(zipped())
        at = content.rindex(b"PK\x01\x02") + offset
        content[at : at + len(value)] = value
        return bytes(content)

    return make


def placing(transform: str) -> bytes:
    return zipped(model(build=f'<item objectid="1" transform="{transform}"/>'))


def chain(count: int, times: int = 1) -> bytes:
    """Each object is so many times a component of the next."""
    parts = (components(i, *[f'objectid="{i - 1}"'] * times) for i in range(2, count + 1))
    return zipped(model(object3mf() + "".join(parts), f'<item objectid="{count}"/>'))


def with_mesh(old: str, new: str) -> bytes:
    return zipped(model(object3mf(1, files.mesh().replace(old, new, 1))))


PACKAGES: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut": (lambda: zipped()[:-30], "cannot be read as 3MF (File is not a zip file); export it again"),
    "no-3mf": (lambda: archive([("a.stl", "x")]), 'lacks the part "_rels/.rels"'),
    "encrypted": (changed(8, b"\x01"), "cannot be read as 3MF (File "),
    "checksum": (changed(16, b"\0\0"), "cannot be read as 3MF (Bad CRC-32 for file '3D/3dmodel.model')"),
    "entries": (lambda: archive([(f"{i}", "") for i in range(2001)]), "is an archive of more than 2000 entries"),
    "no-model": (lambda: zipped(rels=files.relationships("/../../etc/passwd")), 'lacks the part "../../etc/passwd"'),
    "escape": (lambda: zipped(rels=files.relationships("%1b[1m")), r'lacks the part "\x1b[1m"'),
    "no-xml": (lambda: zipped("none"), "cannot be read as 3MF (syntax error: line 1, column 0)"),
    "cut-xml": (lambda: zipped(model()[:600]), "cannot be read as 3MF (unclosed token: line 1"),
    "other-xml": (lambda: zipped("<svg/>"), f"{PART}: is XML that is not 3MF"),
    "entities": (
        lambda: zipped(model(head="<!DOCTYPE m [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>")),
        f"{PART}: has a document type (DOCTYPE), which 3MF forbids",
    ),
    "external": (lambda: zipped(model(head='<!DOCTYPE m SYSTEM "file:///etc/passwd">')), "has a document type"),
    "unit": (lambda: zipped(model(unit="mile")), f'{PART}: unknown unit "mile"; expected one of micron, mill'),
    "beams": (lambda: zipped(model().replace("xmlns:p", BEAMS)), f'{PART}: needs "urn:beams", which fabkit does'),
    "no-object": (lambda: zipped(model(build='<item objectid="9"/>')), 'object "9": expected one object of this'),
    "twice": (lambda: zipped(model(object3mf() * 2)), f"{PLACE}: expected one object of this number, found 2"),
    "hollow": (lambda: zipped(model('<object id="1"/>')), f"{PLACE}: expected either a mesh or components"),
    "two-meshes": (lambda: zipped(model(object3mf(1, files.mesh() * 2))), f"{PLACE}: expected either a mesh or"),
    "no-triangles": (lambda: zipped(model(object3mf(1, files.mesh(faces=files.FACES[:0])))), NOTHING),
    "index": (lambda: with_mesh('v3="3"', 'v3="8"'), "triangle 1: names a vertex that is none of its 8"),
    "negative": (lambda: with_mesh('v3="3"', 'v3="-1"'), "triangle 1: names a vertex that is none of its 8"),
    "lacks": (lambda: with_mesh('v3="3"', ""), "cannot be read as 3MF (it lacks 'v3'); export it again"),
    "nan": (lambda: with_mesh('z="3"', 'z="NaN"'), f"triangle 1: has a corner at (nan, nan, nan); {FAR}"),
    "far": (lambda: with_mesh('z="3"', 'z="1e7"'), f"triangle 1: has a corner at (0, 0, 1e+07); {FAR}"),
    "eleven": (lambda: placing(TWELVE), f"{PLACE}: a transform has 12 numbers, this one 11"),
    "flat": (lambda: placing(CUBE.replace("1 0 0 0 1", "1 0 0 1 0") + "0 0 0"), "a transform flattens a body"),
    "circle": (
        lambda: zipped(model(components(1, 'objectid="2"') + components(2, 'objectid="1"'))),
        f"{PLACE}: nests components in a circle, or deeper than 32",
    ),
    "chain": (lambda: chain(5000), "nests components in a circle, or deeper than 32"),
    "doubling": (lambda: chain(30, times=2), COARSE),
}  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), PACKAGES.values(), ids=PACKAGES)
def test_3mf(make: Callable[[], bytes], expected: str, tmp_path: Path) -> None:
    said = refused(tmp_path, "a.3mf", make())
    assert said.startswith("a.3mf: ")
    assert expected in said


# --- what is large --------------------------------------------------------------------------


def declared(content: bytes, size: int) -> bytes:
    """The archive's last entry says that it inflates to so many bytes."""
    at = content.rindex(b"PK\x01\x02") + 24
    return content[:at] + struct.pack("<I", size) + content[at + 4 :]


def blank() -> bytes:
    return zipped(model(head=" " * 300_000_000))


LARGE: dict[str, tuple[str, Callable[[], bytes | str], str]] = {
    "bomb": ("a.3mf", blank, "inflates to more than 256 MiB"),
    "quiet-bomb": ("a.3mf", lambda: declared(blank(), 2000), "cannot be read as 3MF (Bad CRC-32"),
    "used-often": (
        "a.3mf",
        lambda: zipped(
            model(
                object3mf(1, files.mesh(faces=files.FACES[[0] * 10_000]))
                + components(2, *['objectid="1"'] * 300),
                '<item objectid="2"/>',
            )
        ),
        COARSE,
    ),
    "triangles": (
        "a.stl",
        lambda: bytes(80) + struct.pack("<I", 2_000_001) + bytes(50 * 2_000_001),
        COARSE,
    ),
    "lines": ("a.obj", lambda: "v 0 0 0\n" * 16_000_000, "has more than 15000000 lines; make the"),
    "polygons": (
        "a.obj",
        lambda: "v 0 0 0\n" + ("f " + "1 " * 1000 + "\n") * 501,
        "holds too many faces, or too large ones",
    ),
}  # fmt: skip


@pytest.mark.integration
@pytest.mark.parametrize(("name", "make", "expected"), LARGE.values(), ids=LARGE)
def test_large_ones_take_little_memory(
    name: str, make: Callable[[], bytes | str], expected: str, tmp_path: Path
) -> None:
    content = make()
    tracemalloc.start()
    try:
        assert expected in refused(tmp_path, name, content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(content) + 60_000_000


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
