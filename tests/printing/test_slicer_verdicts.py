"""What speaks against printing a plate: each fault is planted, and found."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabkit.printing.slicer.verdict import Expected, Feature
from tests.printing.test_slicer import verdict
from tests.support.fakeslicer import OPEN_OBJECT, SAID, fake_slicer, gcode


def reasons(
    tmp_path: Path, text: str, expected: Expected | None = None, said: str = SAID, **more: str
) -> str:
    found = verdict(
        fake_slicer(tmp_path, f"write({text!r}); print({said!r})", **more), tmp_path, expected
    )
    assert not found.printable
    assert found.document()["printable"] is False
    assert (tmp_path / "out" / "mine.gcode").exists()
    return "; ".join(found.reasons)


PAUSE = Expected(("A",), pause_height_mm=4.2)


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        (gcode(), PAUSE, "the pause at 4.2 mm is missing"),
        (
            gcode(pause_after=20),
            PAUSE,
            "there is a pause after layer 20, at 4 mm; expected it at 4.2 mm",
        ),
        (
            gcode(pause_after=22),
            PAUSE,
            "there is a pause after layer 22, at 4.4 mm; expected it at 4.2 mm",
        ),
        (
            gcode(pause_after=3),
            Expected(("A",)),
            "there is a pause after layer 3, at 0.6 mm, and none was asked for",
        ),
        (
            gcode(layers=21, pause_after=21),
            PAUSE,
            "there is a pause after layer 21, at 4.2 mm, and nothing is printed after it",
        ),
        (
            gcode(pause_after=21).replace("E-2 F2400\n;", "E-2 F2400\nM601\n;", 1),
            PAUSE,
            "there is a pause after layer 1, at 0.2 mm; expected it at 4.2 mm",
        ),
        (gcode(), Expected(("A", "B")), 'object "B" is printed 0 times, not 1'),
        (gcode(), Expected(("A", "A")), 'object "A" is printed 1 times, not 2'),
        (gcode(["A", "B"]), Expected(("A",)), 'object "B" is printed, and nobody asked for it'),
        (gcode(["A", "B"], skip=[1]), Expected(("A", "B")), 'object "B" begins at 0.2 mm, not on'),
        (gcode(["A", "B"], skip=[7]), Expected(("A", "B")), 'object "B" has 1 empty layer'),
        (
            gcode(skip=[7]),
            Expected(("A",)),
            "layer 7 reaches from 1.2 mm to 1.6 mm; expected a height of 0.2 mm",
        ),
        (gcode(layer_mm=0.1), Expected(("A",)), "layer 1 reaches from 0 mm to 0.1 mm"),
        (gcode().replace("G1 X50", "G1 X0.1"), Expected(("A",)), "not all on the bed of 250 mm"),
        (gcode().replace("G1 X70", "G1 X250"), Expected(("A",)), "not all on the bed of 250 mm"),
        (gcode().replace("Y60", "Y0.1"), Expected(("A",)), "not all on the bed of 250 mm by 210"),
        (gcode().replace("Y80", "Y210"), Expected(("A",)), "not all on the bed of 250 mm by 210"),
        (gcode(layers=1051), Expected(("A",)), "it is 210.2 mm high; the printer reaches 210 mm"),
        (
            gcode(),
            Expected(("A",), features=(Feature("letter", 6.4, 7.0),)),
            "the letter between 6.4 mm and 7 mm lies in no layer",
        ),
    ],
)
def test_each_fault_is_a_reason(text: str, expected: Expected, reason: str, tmp_path: Path) -> None:
    assert reason in reasons(tmp_path, text, expected)


def test_a_pause_at_its_place_is_none(tmp_path: Path) -> None:
    program = fake_slicer(tmp_path, f"write({gcode(pause_after=21)!r})")
    assert verdict(program, tmp_path, PAUSE).reasons == ()


def test_an_open_mesh_is_a_reason(tmp_path: Path) -> None:
    found = reasons(tmp_path, gcode(), info=f"print({OPEN_OBJECT!r})")
    assert found == 'the mesh of object "A" is not manifold: 3 open edges'


def test_an_open_mesh_that_is_not_printed_is_one_too(tmp_path: Path) -> None:
    found = reasons(
        tmp_path,
        gcode(),
        info=f"print({('[plate.3mf]' + chr(10) + 'manifold = yes' + chr(10) + OPEN_OBJECT)!r})",
    )
    assert found == "the mesh of object number 2 is not manifold: 3 open edges"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "print warning: Empty layer between 2 and 3.\n\nObject name: A\n",
            "Empty layer between 2 and 3. Object name: A",
        ),
        (
            "[2026-01-01 10:00:00.1] [0x00007f] [error]   Unable to do it\n",
            "error: Unable to do it",
        ),
        ("[2026-01-01 10:00:00.1] [0x00007f] [warning]   Strange\n", "warning: Strange"),
        ("something new\n", "something new"),
        ("\x1b[31mred\n", "\\x1b[31mred"),
    ],
)
def test_what_the_slicer_minds_is_a_reason(said: str, reason: str, tmp_path: Path) -> None:
    found = reasons(tmp_path, gcode(), said=SAID.replace("90", said + "90"))
    assert found == f"the slicer says: {reason}" or found.endswith(reason)
    assert found.startswith("the slicer says: ")


def test_progress_and_chat_are_no_reasons(tmp_path: Path) -> None:
    said = "[2026-01-01 10:00:00.1] [0x00007f] [trace]   Initializing StaticPrintConfigs\n" + SAID
    program = fake_slicer(tmp_path, f"write({gcode()!r}); print({said!r})")
    assert verdict(program, tmp_path).reasons == ()
