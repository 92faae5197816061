"""Slicers that cannot be found, fail in all kinds of ways or never end; and what the real one says."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from fabkit.core.errors import ExternalError, InputError
from fabkit.printing.package3mf import pause_parts
from fabkit.printing.slicer.gcode import read_gcode
from fabkit.printing.slicer.program import (
    MAX_OUTPUT_BYTES,
    PROGRAM_NAMES,
    Slicer,
    find_slicer,
    run_program,
)
from fabkit.printing.slicer.settings import print_settings
from fabkit.printing.slicer.slicing import slice_plate
from fabkit.printing.slicer.verdict import ExpectedPrint, Feature
from fabkit.profiles.profile_file import load_profile
from tests.support.fakeslicer import OPEN_OBJECT, OUTPUT, fake_slicer, gcode
from tests.support.platefiles import Printable, box, hollow, with_prusa, write_plate

if TYPE_CHECKING:
    import trimesh

PROFILE, FLIPPABLE = load_profile(), load_profile(["flippable"])
FAKE = Slicer(Path("unset"), "PrusaSlicer", "2.5.0")
A, PAUSE = ExpectedPrint(("A",)), ExpectedPrint(("A",), pause_height_mm=4.2)


def verdict(
    program: Path, folder: Path, expected: ExpectedPrint = A, limit_s: float = 60
) -> dict[str, Any]:
    """The verdict on an empty plate by a fake slicer."""
    model = folder / "mine.3mf"
    model.write_bytes(b"a plate")
    place = folder / "out" / "mine.gcode"
    return slice_plate(replace(FAKE, path=program), model, place, PROFILE, expected, limit_s)


def failure(program: Path, folder: Path, limit_s: float = 60) -> str:
    """The message when slicing fails; what was there before is left alone."""
    place = folder / "out" / "mine.gcode"
    place.parent.mkdir()
    place.write_text("older")
    with pytest.raises(ExternalError) as caught:
        verdict(program, folder, limit_s=limit_s)
    assert place.read_text() == "older"
    assert list(place.parent.iterdir()) == [place]
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("mine.3mf: ")
    return message


# --- finding one


def test_the_first_of_the_known_names_is_found_and_orca_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExternalError, match=r"no slicer found .*apt install prusa-slicer.*only"):
        find_slicer()
    for name in reversed(PROGRAM_NAMES):
        maker = "OrcaSlicer" if "rca" in name else "PrusaSlicer"
        fake_slicer(tmp_path, name=name, help=f"print('{maker}-2.3.0: {name}')")
        found = find_slicer()
        assert (found.path, str(found)) == (tmp_path / name, f"{maker} 2.3.0")
    with pytest.raises(
        ExternalError, match="found OrcaSlicer, but fabkit slices with PrusaSlicer only"
    ):
        slice_plate(find_slicer("orca-slicer"), tmp_path / "m", tmp_path / "g", PROFILE, A)
    fake_slicer(tmp_path, help="sys.exit('cannot open shared object')")
    with pytest.raises(ExternalError, match=r"cannot identify.*shared object.*reinstall it"):
        find_slicer()


def test_a_given_one_by_path_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake_slicer(tmp_path / "odd place", name="my slicer")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "odd place"))
    for given in (str(path), "odd place/my slicer", "my slicer"):
        assert find_slicer(given) == replace(FAKE, path=path)


@pytest.mark.parametrize("given", ["nothing-of-this-name", "", ".", "/", "\x1b[31m"])
def test_a_given_one_that_does_not_exist(given: str) -> None:
    with pytest.raises(InputError, match=r"^--slicer: cannot find a program .*") as no:
        find_slicer(given)
    assert "\x1b" not in str(no.value)


@pytest.mark.parametrize(
    ("help", "message"),
    [
        ("print('frobnicator 1.0')", "ended with exit code 0; last output: frobnicator 1.0"),
        ("sys.exit(7)", "ended with exit code 7 without output"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"crashed \(SIGSEGV\)"),
        ("sys.stdout.buffer.write(bytes(range(256)))", "is not a supported slicer"),
        (
            f"print('x' * {MAX_OUTPUT_BYTES})",
            "failed to run .* a slicer prints a few lines",
        ),
        ("", r"failed to run .cannot start prusa-slicer"),
    ],
)
def test_a_given_one_that_is_no_slicer(help: str, message: str, tmp_path: Path) -> None:
    path = fake_slicer(tmp_path, help=help or "pass")
    if not help:
        path.write_bytes(b"\x00\x01 no program")
    with pytest.raises(InputError, match=message) as caught:
        find_slicer(str(path))
    assert "\n" not in str(caught.value)


# --- slicers that fail


def test_a_good_one(tmp_path: Path) -> None:
    output = (
        "[2026-01-01 10:00:00.1] [0x00007f] [trace]   Initializing StaticPrintConfigs\n" + OUTPUT
    )
    found = verdict(fake_slicer(tmp_path, f"write({gcode()!r}); print({output!r})"), tmp_path)
    assert (found["printable"], found["reasons"]) == (True, [])
    [path] = (tmp_path / "out").iterdir()
    first, rest = path.read_text().split("\n", 1)
    assert first.rstrip() == "; generated by PrusaSlicer 2.5.0"  # when is left out
    assert rest == gcode().split("\n", 1)[1]


@pytest.mark.parametrize(
    ("slice", "message"),
    [
        ("sys.exit('empty')", "PrusaSlicer 2.5.0 ended with exit code 1; last output: empty"),
        ("print('done'); os.abort()", r"crashed \(SIGABRT\)"),
        ("pass", "wrote no G-code; it ended with exit code 0 without output"),
        ("os.mkdir('plate.gcode')", "wrote no G-code"),
        ("write(os.urandom(300_000))", "wrote G-code that is broken"),
        ("for _ in range(400): print('rubbish ' * 1000)", "printed more than 1000000 bytes; a"),
        ("print('plate.3mf: not loaded'); sys.exit(1)", "last output: mine.3mf: not loaded"),
    ],
)
def test_slicers_that_fail(slice: str, message: str, tmp_path: Path) -> None:
    assert re.search(message, failure(fake_slicer(tmp_path, slice), tmp_path))


def test_one_that_tells_of_no_objects_and_what_is_not_there(tmp_path: Path) -> None:
    message = failure(fake_slicer(tmp_path, info="print('nothing here')"), tmp_path)
    assert message.endswith("no objects; it ended with exit code 0; last output: nothing here")
    with pytest.raises(ExternalError, match="cannot start no-such: No such file"):
        verdict(tmp_path / "no-such", tmp_path)
    with pytest.raises(ExternalError, match=r"cannot slice gone\.3mf: No such file"):
        slice_plate(FAKE, tmp_path / "gone.3mf", tmp_path / "g", PROFILE, A)


def is_gone(number: int) -> bool:
    """Whether a process has ended, which may take a moment."""
    for _ in range(200):
        status = Path(f"/proc/{number}/stat")
        try:
            if ") Z " in status.read_text():
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


#: Starts a process that outlives its parent and holds the pipe; its number goes into a file.
GRANDCHILD = (
    "open({note!r}, 'w').write(str(__import__('subprocess').Popen([sys.executable, '-c', "
    "'import time; time.sleep(600)']).pid)); print('30 => Infill', flush=True); time.sleep(600)"
)


@pytest.mark.integration
def test_one_that_hangs_is_stopped_with_all_its_children(tmp_path: Path) -> None:
    note = tmp_path / "note"
    message = failure(fake_slicer(tmp_path, GRANDCHILD.format(note=str(note))), tmp_path, limit_s=2)
    assert "was stopped after 2 seconds; last output: 30 => Infill" in message
    assert is_gone(int(note.read_text()))


def test_the_users_settings_and_screen_stay_out_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("HOME", "/home/somebody")
    keys = ["HOME", "XDG_CONFIG_HOME", "TMPDIR", "DISPLAY"]
    program = fake_slicer(tmp_path, help=f"print([os.environ.get(key) for key in {keys}])")
    assert (
        run_program([program, "--help"], tmp_path, 60).output == f"{[str(tmp_path)] * 3 + [None]}\n"
    )


# --- verdicts

TWO_PAUSES = gcode(pause_after=21).replace("E-2 F2400\n;", "E-2 F2400\nM601\n;", 1)
LETTER_ABOVE = ExpectedPrint(("A",), features=(Feature("letter", 6.4, 7.0),))
LOG = "[2026-01-01 10:00:00.1] [0x00007f] "


def reasons(
    tmp_path: Path, text: str, expected: ExpectedPrint = A, output: str = OUTPUT, **more: str
) -> str:
    program = fake_slicer(tmp_path, f"write({text!r}); print({output!r})", **more)
    found = verdict(program, tmp_path, expected)
    assert not found["printable"]
    assert (tmp_path / "out" / "mine.gcode").exists()
    return "; ".join(found["reasons"])


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        (gcode(), PAUSE, "the pause at 4.2 mm is missing"),
        (gcode(pause_after=20), PAUSE, "a pause after layer 20, at 4 mm; expected it at 4.2 mm"),
        (gcode(pause_after=22), PAUSE, "after layer 22, at 4.4 mm; expected it at 4.2 mm"),
        (gcode(pause_after=3), A, "a pause after layer 3, at 0.6 mm; expected none"),
        (gcode(layers=21, pause_after=21), PAUSE, "at 4.2 mm, and nothing is printed after it"),
        (TWO_PAUSES, PAUSE, "a pause after layer 1, at 0.2 mm; expected it at 4.2 mm"),
        (gcode(), ExpectedPrint(("A", "B")), 'object "B" is printed 0 times, not 1'),
        (gcode(), ExpectedPrint(("A", "A")), 'object "A" is printed 1 times, not 2'),
        (gcode(["A", "B"]), A, 'object "B" is printed unexpectedly'),
        (
            gcode(["A", "B"], skip=[1]),
            ExpectedPrint(("A", "B")),
            'object "B" begins at 0.2 mm, not on',
        ),
        (gcode(["A", "B"], skip=[7]), ExpectedPrint(("A", "B")), 'object "B" has 1 empty layer'),
        (gcode(skip=[7]), A, "layer 7 reaches from 1.2 mm to 1.6 mm; expected a height of 0.2 mm"),
        (gcode(layer_mm=0.1), A, "layer 1 reaches from 0 mm to 0.1 mm"),
        (gcode().replace("G1 X50", "G1 X0.1"), A, "not all on the bed, (0, 0) to (250, 210) mm"),
        (gcode().replace("G1 X70", "G1 X250"), A, "not all on the bed, (0, 0) to (250, 210) mm"),
        (gcode().replace("Y60", "Y0.1"), A, "not all on the bed, (0, 0) to (250, 210) mm"),
        (gcode().replace("Y80", "Y210"), A, "not all on the bed, (0, 0) to (250, 210) mm"),
        (gcode(layers=1051), A, "it is 210.2 mm high; the printer reaches 210 mm"),
        (gcode(), LETTER_ABOVE, "the letter between 6.4 mm and 7 mm is not in any layer"),
    ],
)
def test_each_fault_is_a_reason(
    text: str, expected: ExpectedPrint, reason: str, tmp_path: Path
) -> None:
    assert reason in reasons(tmp_path, text, expected)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("print warning: Empty.\n\nObject name: A\n", "print warning: Empty. Object name: A"),
        (f"{LOG}[error]   Unable\n", "error: Unable"),
        (f"{LOG}[warning]   Strange\n", "warning: Strange"),
        ("\x1b[31mred\n", "\\x1b[31mred"),
    ],
)
def test_what_the_slicer_minds_is_a_reason(output: str, reason: str, tmp_path: Path) -> None:
    found = reasons(tmp_path, gcode(), output=OUTPUT.replace("90", output + "90"))
    assert found == f"slicer warning: {reason}"


def test_an_open_mesh_is_a_reason(tmp_path: Path) -> None:
    found = reasons(tmp_path, gcode(), info=f"print({OPEN_OBJECT!r})")
    assert found == 'the mesh of object "A" is not manifold: 3 open edges'


def test_the_tower_stands_in_its_corner() -> None:
    lines = (line.partition(" = ") for line in print_settings(PROFILE, 2).splitlines())
    settings = {key: value for key, _, value in lines}
    # The bed's 250 x 210 mm less an edge of 5 mm and a corner of 40 mm; 2.5 mm of it are brim.
    at = [float(settings[f"wipe_tower_{key}"]) for key in ("x", "y", "width")]
    assert (settings["wipe_tower"], at) == ("1", [207.5, 167.5, 35.0])


def test_an_unknown_material_stays_out_of_the_settings() -> None:
    text = print_settings(replace(PROFILE, filament="PLA\npost_process = rm"), 1)
    assert "rm" not in text.split()
    assert "filament_type" not in text
    assert "\ntemperature = 0\n" in text


# --- the real one


def block() -> trimesh.Trimesh:
    return box((0, 0, 0), (20, 20, 4.6))


def real(
    folder: Path,
    printables: Sequence[Printable],
    expected: ExpectedPrint,
    profile=PROFILE,
    parts=MappingProxyType({}),
) -> dict[str, Any]:
    model = write_plate(folder / "plate one.3mf", printables, parts)
    return slice_plate(find_slicer(), model, folder / "plate.gcode", profile, expected)


@with_prusa
def test_a_hollow_box_with_a_pause(tmp_path: Path) -> None:
    features = (Feature("letter", 4.8, 5.2), Feature("recess", 1.0, 4.2))
    expected = ExpectedPrint(("P",), 4.2, features=features)
    printables, parts = [Printable("P", [(hollow(), 1)])], pause_parts([4.2], FLIPPABLE)
    found = real(tmp_path, printables, expected, FLIPPABLE, parts)
    assert (found["reasons"], found["slicer"]["name"]) == ([], "PrusaSlicer")
    assert found["pauses"] == [{"after_layer": 21, "height_mm": 4.2}]
    assert (found["layers"], found["height_mm"]) == (26, 5.2)
    heights = {"low_mm": 0.0, "high_mm": 5.2}
    layers = {"first_layer": 1, "last_layer": 26, "layers": 26}
    assert found["objects"] == [{"name": "P", "manifold": True, **heights, **layers}]
    layers = {f["name"]: (f["first_layer"], f["last_layer"]) for f in found["features"]}
    assert layers == {"letter": (25, 26), "recess": (6, 21)}
    assert all(f["begins_on_layer"] and f["ends_on_layer"] for f in found["features"])
    # The box weighs between what its shell of three lines does and what it would if it were full.
    full_g = (20 * 20 * 5.2 - 10 * 10 * 3.2) / 1000 * PROFILE.filament_density
    assert 0.5 * full_g < found["grams"] < full_g
    length_m = found["grams"] / PROFILE.filament_density / (3.14159 * 0.0875**2) / 100
    assert found["metres"] == pytest.approx(length_m, rel=0.01)
    assert 120 < found["seconds"] < 3600
    assert found["extruders"][0]["grams"] == found["grams"]


@with_prusa
def test_two_objects_with_odd_names_one_of_them_open(tmp_path: Path) -> None:
    import trimesh

    names = ("two words", 'B <&"é id:7 copy 3')
    whole = block()
    meshes = trimesh.Trimesh(whole.vertices, whole.faces[1:]), whole
    printables = [
        Printable(name, [(mesh, 1)], (50.0 + 40 * i, 60.0))
        for i, (name, mesh) in enumerate(zip(names, meshes, strict=True))
    ]
    found = real(tmp_path, printables, ExpectedPrint(names))
    assert 'the mesh of object "two words" is not manifold: 3 open edges' in found["reasons"]
    manifold = [(one["name"], one["manifold"]) for one in found["objects"]]
    assert manifold == [(names[0], False), (names[1], True)]
    first, second = (one.box for one in read_gcode(tmp_path / "plate.gcode", "it").objects)
    assert first == pytest.approx((50.2, 60.2, 69.8, 79.8), abs=0.05)
    assert second == pytest.approx((90.2, 60.2, 109.8, 79.8), abs=0.05)


@with_prusa
def test_an_empty_layer_and_what_is_beside_the_bed_are_refused(tmp_path: Path) -> None:
    floating = Printable("A", [(box((0, 0, 0), (20, 20, 2)), 1), (box((0, 0, 3), (20, 20, 5)), 1)])
    found = "; ".join(real(tmp_path, [floating], A)["reasons"])
    assert "Empty layer between 2 and 3.2" in found
    assert "layer 11 reaches from 2 mm to 3.2 mm" in found
    # It does not mind what is not on the bed.
    printables = [Printable("A", [(block(), 1)]), Printable("B", [(block(), 1)], (240, 50))]
    [reason] = real(tmp_path, printables, ExpectedPrint(("A", "B")))["reasons"]
    assert "which is not all on the bed" in reason


@with_prusa
@pytest.mark.parametrize("tower", [40.0, 0.0])
def test_a_letter_of_a_second_colour(tower: float, tmp_path: Path) -> None:
    profile = replace(FLIPPABLE, inlay="letter", tower_mm=tower)
    expected = ExpectedPrint(("A",), 4.2, 2, (Feature("letter", 4.6, 5.2),))
    letter = box((5, 5, 4.6), (15, 15, 5.2))
    printable, parts = Printable("A", [(block(), 1), (letter, 2)]), pause_parts([4.2], profile)
    found = real(tmp_path, [printable], expected, profile, parts)
    assert found["reasons"] == []
    first, second = found["extruders"]
    assert first["grams"] > second["grams"] > 0
    text = (tmp_path / "plate.gcode").read_text()
    # The second filament is first taken for the letter's first layer.
    assert ";Z:4.8\n" in text[: text.rindex("\nT1")]
    if tower:  # it stands in the corner that plates keep free
        left, _, right, back = read_gcode(tmp_path / "plate.gcode", "it").box
        assert (right, back) < (profile.bed_width_mm - profile.plate_edge_mm,) * 2
        assert right > profile.bed_width_mm - profile.plate_edge_mm - tower
        assert left == pytest.approx(50.2, abs=0.05)


@with_prusa
def test_the_settings_reach_the_slicer(tmp_path: Path) -> None:
    profile = replace(PROFILE, first_layer_mm=0.3, layer_mm=0.15, filament="PETG")
    printables = [Printable("A", [(box((0, 0, 0), (20, 20, 4.5)), 1)])]
    assert real(tmp_path, printables, A, profile)["printable"]
    lines = (tmp_path / "plate.gcode").read_text().splitlines()
    used = dict(line[2:].split(" = ", 1) for line in lines if re.match("; .* = ", line))
    for line in print_settings(profile, 1).splitlines():
        if not line.startswith("#") and "=" in line:
            key, _, value = line.partition("=")
            assert used[key.strip()] == value.strip(), key
