"""What is wrong with an STL or OBJ file is told in one message, without much memory."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from fabkit.core.errors import InputError
from fabkit.mesh.files.reading import read_bodies
from tests.support import meshfiles as files
from tests.support.meshfiles import ascii_stl, binary_stl
from tests.support.refusals import FAR, message

NO_STL = (
    "is no STL file: a binary one has a header of 84 bytes, an ASCII one begins with "
    '"solid"; found '
)
FACET = "expected a facet with three vertices, or endsolid"


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
        "is no complete STL file: its header announces 42,949,672 triangles, which take 2147483684 "
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
    "ascii-two": ("a.stl", with_vertex("0 0"), f'line 2: {FACET}, found "facet normal 0 0 nan"'),
    "ascii-cut": ("a.stl", ascii_stl()[:500], f'line 23: {FACET}, found "facet normal 0 0 nan"'),
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


#: These are read nearly to their ends.
LONG = ("many-polygons", "many-lines")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        pytest.param(*one, id=key, marks=[pytest.mark.integration] * (key in LONG))
        for key, one in PLAIN.items()
    ],
)
def test_stl_and_obj(name: str, content: bytes | str, expected: str, tmp_path: Path) -> None:
    assert message(tmp_path, name, content) == f"{name}: {expected}"


def test_more_triangles_than_are_read(tmp_path: Path) -> None:
    said = "a.stl: holds more than 2000000 triangles; make the mesh coarser"
    many = 2_000_001
    content = bytes(80) + struct.pack("<I", many) + bytes(50 * many)
    assert message(tmp_path, "a.stl", content) == said


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


def test_nothing_is_written_to_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, content, _ in PLAIN.values():
        if len(content) < 1_000_000:
            message(tmp_path, name, content)
    assert capfd.readouterr() == ("", "")
