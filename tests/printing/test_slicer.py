"""Slicers that cannot be found, fail in all kinds of ways, or never end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from fabkit.core.errors import InputError, OutsideError
from fabkit.model.profilefile import load_profile
from fabkit.printing.package import pause_parts
from fabkit.printing.slicer.finding import NAMES, ORCA, PRUSA, Slicer, find_slicer
from fabkit.printing.slicer.running import MOST_SAID, run
from fabkit.printing.slicer.settings import print_settings
from fabkit.printing.slicer.slicing import slice_plate
from fabkit.printing.slicer.verdict import Expected, Feature, Verdict
from tests.support.fakeslicer import OPEN_OBJECT, SAID, fake_slicer, gcode
from tests.support.platefiles import Thing, box, hollow, opened, prusa_slicer, write_plate

PROFILE = load_profile()
FAKE = Slicer(Path("unset"), PRUSA, "PrusaSlicer", "2.5.0")


def verdict(
    program: Path, folder: Path, expected: Expected | None = None, limit_s: float = 60
) -> Verdict:
    """The verdict on an empty plate by a fake slicer."""
    model = folder / "mine.3mf"
    model.write_bytes(b"a plate")
    slicer = replace(FAKE, path=program)
    place = folder / "out" / "mine.gcode"
    return slice_plate(slicer, model, place, PROFILE, expected or Expected(("A",)), limit_s)


def failure(program: Path, folder: Path, limit_s: float = 60) -> str:
    """The message when slicing fails; nothing is left of it."""
    with pytest.raises(OutsideError) as caught:
        verdict(program, folder, limit_s=limit_s)
    assert list((folder / "out").iterdir()) == []
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("mine.3mf: ")
    return message


# --- finding one


def test_the_first_of_the_known_names_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        OutsideError, match=r"no slicer is installed .*apt install prusa-slicer.*only"
    ):
        find_slicer()
    orca = "print('OrcaSlicer-2.3.0:'); print('Usage: orca-slicer')"
    for name in reversed(NAMES):
        fake_slicer(
            tmp_path,
            name=name,
            help=orca if "rca" in name else f"print('PrusaSlicer-2.5.0 {name}')",
        )
        found = find_slicer()
        assert found.path == tmp_path / name
        assert found.kind == (ORCA if "rca" in name else PRUSA)
    assert (found.name, found.version) == ("PrusaSlicer", "2.5.0")


def test_a_given_one_by_path_and_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fake_slicer(tmp_path / "odd place", name="my slicer")
    assert find_slicer(str(path)).path == path
    monkeypatch.chdir(tmp_path)
    assert find_slicer("odd place/my slicer").path == path
    monkeypatch.setenv("PATH", str(tmp_path / "odd place"))
    assert find_slicer("my slicer").version == "2.5.0"


@pytest.mark.parametrize("given", ["nothing-of-this-name", "", ".", "a\0b", "/", "\x1b[31m"])
def test_a_given_one_that_does_not_exist(given: str) -> None:
    with pytest.raises(
        InputError, match=r"^--slicer: there is no program .* could be run"
    ) as caught:
        find_slicer(given)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("help", "message"),
    [
        ("print('frobnicator 1.0')", "ended with exit code 0; its last words: frobnicator 1.0"),
        ("sys.exit(7)", "ended with exit code 7 without a word"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"crashed \(SIGSEGV\)"),
        ("sys.stdout.buffer.write(bytes(range(256)))", "is no slicer that fabkit knows"),
        (f"print('x' * {MOST_SAID})", "could not be asked .* where a slicer says a few lines"),
    ],
)
def test_a_given_one_that_is_no_slicer(help: str, message: str, tmp_path: Path) -> None:
    path = fake_slicer(tmp_path, help=help)
    with pytest.raises(InputError, match=message) as caught:
        find_slicer(str(path))
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    path = tmp_path / "slicer"
    path.write_bytes(b"\x00\x01 no program")
    path.chmod(0o755)
    with pytest.raises(InputError, match=r"could not be asked .cannot start slicer"):
        find_slicer(str(path))


def test_a_broken_one_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fake_slicer(tmp_path, help="sys.exit('cannot open shared object')")
    with pytest.raises(
        OutsideError, match=r"does not say which slicer it is.*shared object.*install it again"
    ):
        find_slicer()


def test_orca_is_known_and_refused(tmp_path: Path) -> None:
    slicer = find_slicer(
        str(fake_slicer(tmp_path, help="print('OrcaSlicer-2.3.0:')", name="orca-slicer"))
    )
    with pytest.raises(
        OutsideError, match="OrcaSlicer was found, and fabkit slices with PrusaSlicer only"
    ):
        slice_plate(slicer, tmp_path / "m", tmp_path / "g", PROFILE, Expected(()))


# --- slicers that fail


def test_a_good_one(tmp_path: Path) -> None:
    found = verdict(fake_slicer(tmp_path), tmp_path)
    assert found.printable
    assert found.reasons == ()
    text = (tmp_path / "out" / "mine.gcode").read_text()
    first, rest = text.split("\n", 1)
    assert first.rstrip() == "; generated by PrusaSlicer 2.5.0"  # when is left out
    assert rest == gcode().split("\n", 1)[1]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.gcode"]


@pytest.mark.parametrize(
    ("slice", "message"),
    [
        ("sys.exit('empty')", "PrusaSlicer 2.5.0 ended with exit code 1; its last words: empty"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"crashed \(SIGSEGV\) without a word"),
        ("print('done'); os.abort()", r"crashed \(SIGABRT\)"),
        ("pass", "wrote no G-code; it ended with exit code 0 without a word"),
        ("print('well')", "wrote no G-code; it ended with exit code 0; its last words: well"),
        ("os.mkdir('plate.gcode')", "wrote no G-code"),
        ("write('')", "wrote G-code that is broken: it prints no layer"),
        ("write(os.urandom(300_000))", "wrote G-code that is broken"),
        ("write(bytes(5_000_000))", "wrote G-code that is broken: it prints no layer"),
        (f"write({gcode()!r}[:900])", "it ends without the estimated printing time"),
        ("for _ in range(400): print('rubbish ' * 1000)", "said 3200400 bytes, where a slicer"),
        ("sys.stdout.buffer.write(bytes(range(256)) * 9000)", "where a slicer says a few lines"),
        ("print('plate.3mf: not loaded'); sys.exit(1)", "its last words: mine.3mf: not loaded"),
    ],
)
def test_slicers_that_fail(slice: str, message: str, tmp_path: Path) -> None:
    assert re.search(message, failure(fake_slicer(tmp_path, slice), tmp_path))


def test_one_that_tells_of_no_objects_or_cannot_be_started(tmp_path: Path) -> None:
    message = failure(fake_slicer(tmp_path, info="print('nothing here')"), tmp_path)
    assert message.endswith("no objects; it ended with exit code 0; its last words: nothing here")
    assert "cannot start no-such: No such file" in failure(tmp_path / "no-such", tmp_path)


def test_a_plate_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match=r"cannot slice gone\.3mf: No such file"):
        slice_plate(FAKE, tmp_path / "gone.3mf", tmp_path / "g", PROFILE, Expected(()))


def test_a_failure_leaves_the_older_gcode_alone(tmp_path: Path) -> None:
    place = tmp_path / "out" / "mine.gcode"
    place.parent.mkdir()
    place.write_text("older")
    with pytest.raises(OutsideError):
        verdict(fake_slicer(tmp_path, "sys.exit(1)"), tmp_path)
    assert place.read_text() == "older"
    assert list(place.parent.iterdir()) == [place]


def is_gone(number: int) -> bool:
    """Whether a process has ended, which may take a moment."""
    for _ in range(200):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        status = Path(f"/proc/{number}/stat")
        if status.exists() and ") Z " in status.read_text():
            return True
        time.sleep(0.05)
    return False


#: Starts a process that outlives its parent and holds the pipe; its number goes into a file.
GRANDCHILD = (
    "open({note!r}, 'w').write(str(__import__('subprocess').Popen([sys.executable, '-c', "
    "'import time; time.sleep(600)']).pid)); "
)


def test_one_that_hangs_is_stopped_with_all_its_children(tmp_path: Path) -> None:
    note = tmp_path / "note"
    slice = GRANDCHILD.format(note=str(note)) + "print('30 => Infill', flush=True); time.sleep(600)"
    message = failure(fake_slicer(tmp_path, slice), tmp_path, limit_s=2)
    assert "was stopped: it was not done within 2 seconds; its last words: 30 => Infill" in message
    assert is_gone(int(note.read_text()))


@pytest.mark.integration
def test_ctrl_c_ends_the_slicer_and_leaves_nothing(tmp_path: Path) -> None:
    note = tmp_path / "note"
    slice = GRANDCHILD.format(note=str(note)) + "time.sleep(600)"
    program = fake_slicer(tmp_path, slice)
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.printing.test_slicer import verdict\n"
        "verdict(Path(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(program), str(tmp_path)],
        cwd=root,
        stderr=subprocess.PIPE,
    )
    for _ in range(600):
        if note.exists() and note.read_text():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert b"KeyboardInterrupt" in complaint
    assert is_gone(int(note.read_text()))
    assert list((tmp_path / "out").iterdir()) == []


def test_the_users_settings_and_screen_stay_out_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("HOME", "/home/somebody")
    places = "print([os.environ[key] for key in ('HOME', 'XDG_CONFIG_HOME', 'TMPDIR')], os.environ.get('DISPLAY'))"
    said = run([fake_slicer(tmp_path, help=places), "--help"], tmp_path, 60).said
    assert said == f"{[str(tmp_path)] * 3} None\n"


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


A, PAUSE = Expected(("A",)), Expected(("A",), pause_height_mm=4.2)
TWO_PAUSES = gcode(pause_after=21).replace("E-2 F2400\n;", "E-2 F2400\nM601\n;", 1)


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        (gcode(), PAUSE, "the pause at 4.2 mm is missing"),
        (gcode(pause_after=20), PAUSE, "a pause after layer 20, at 4 mm; expected it at 4.2 mm"),
        (gcode(pause_after=22), PAUSE, "after layer 22, at 4.4 mm; expected it at 4.2 mm"),
        (gcode(pause_after=3), A, "a pause after layer 3, at 0.6 mm, and none was asked for"),
        (gcode(layers=21, pause_after=21), PAUSE, "at 4.2 mm, and nothing is printed after it"),
        (TWO_PAUSES, PAUSE, "a pause after layer 1, at 0.2 mm; expected it at 4.2 mm"),
        (gcode(), Expected(("A", "B")), 'object "B" is printed 0 times, not 1'),
        (gcode(), Expected(("A", "A")), 'object "A" is printed 1 times, not 2'),
        (gcode(["A", "B"]), A, 'object "B" is printed, and nobody asked for it'),
        (gcode(["A", "B"], skip=[1]), Expected(("A", "B")), 'object "B" begins at 0.2 mm, not on'),
        (gcode(["A", "B"], skip=[7]), Expected(("A", "B")), 'object "B" has 1 empty layer'),
        (gcode(skip=[7]), A, "layer 7 reaches from 1.2 mm to 1.6 mm; expected a height of 0.2 mm"),
        (gcode(layer_mm=0.1), A, "layer 1 reaches from 0 mm to 0.1 mm"),
        (gcode().replace("G1 X50", "G1 X0.1"), A, "not all on the bed of 250 mm"),
        (gcode().replace("G1 X70", "G1 X250"), A, "not all on the bed of 250 mm"),
        (gcode().replace("Y60", "Y0.1"), A, "not all on the bed of 250 mm by 210"),
        (gcode().replace("Y80", "Y210"), A, "not all on the bed of 250 mm by 210"),
        (gcode(layers=1051), A, "it is 210.2 mm high; the printer reaches 210 mm"),
        (
            gcode(),
            Expected(("A",), features=(Feature("letter", 6.4, 7.0),)),
            "the letter between 6.4 mm and 7 mm lies in no layer",
        ),
    ],
)
def test_each_fault_is_a_reason(text: str, expected: Expected, reason: str, tmp_path: Path) -> None:
    assert reason in reasons(tmp_path, text, expected)


def test_an_open_mesh_is_a_reason(tmp_path: Path) -> None:
    found = reasons(tmp_path, gcode(), info=f"print({OPEN_OBJECT!r})")
    assert found == 'the mesh of object "A" is not manifold: 3 open edges'


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("print warning: Empty layer.\n\nObject name: A\n", "Empty layer. Object name: A"),
        ("[2026-01-01 10:00:00.1] [0x00007f] [error]   Unable\n", "error: Unable"),
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


PROFILE = load_profile()
FLIPPABLE = load_profile(["flippable"])
BODY = hollow(box((0, 0, 0), (20, 20, 5.2)), box((5, 5, 1.0), (15, 15, 4.2)))
BLOCK = box((0, 0, 0), (20, 20, 4.6))
LETTER = box((5, 5, 4.6), (15, 15, 5.2))


def real(
    folder: Path,
    things: Sequence[Thing],
    expected: Expected,
    profile=PROFILE,
    parts=MappingProxyType({}),
) -> Verdict:
    model = write_plate(folder / "plate one.3mf", things, parts)
    return slice_plate(find_slicer(), model, folder / "out" / "plate.gcode", profile, expected)


@prusa_slicer
@pytest.mark.integration
def test_a_hollow_box_with_a_pause(tmp_path: Path) -> None:
    features = (Feature("letter", 4.8, 5.2), Feature("recess", 1.0, 4.2))
    expected = Expected(("P",), 4.2, features=features)
    found = real(
        tmp_path, [Thing("P", [(BODY, 1)])], expected, FLIPPABLE, pause_parts(4.2, FLIPPABLE)
    )
    assert found.reasons == ()
    document = json.loads(json.dumps(found.document()))
    assert document["slicer"]["name"] == "PrusaSlicer"
    assert document["pauses"] == [{"after_layer": 21, "height_mm": 4.2}]
    assert (document["layers"], document["height_mm"]) == (26, 5.2)
    heights = {"low_mm": 0.0, "high_mm": 5.2}
    layers = {"first_layer": 1, "last_layer": 26, "layers": 26}
    assert document["objects"] == [{"name": "P", "manifold": True, **heights, **layers}]
    layers = {f["name"]: (f["first_layer"], f["last_layer"]) for f in document["features"]}
    assert layers == {"letter": (25, 26), "recess": (6, 21)}
    assert all(f["begins_on_layer"] and f["ends_on_layer"] for f in document["features"])
    # The box weighs between what its shell of three lines does and what it would if it were full.
    full_g = (20 * 20 * 5.2 - 10 * 10 * 3.2) / 1000 * PROFILE.filament_density
    assert 0.5 * full_g < document["grams"] < full_g
    length_m = document["grams"] / PROFILE.filament_density / (3.14159 * 0.0875**2) / 100
    assert document["metres"] == pytest.approx(length_m, rel=0.01)
    assert 120 < document["seconds"] < 3600
    assert document["extruders"][0]["grams"] == document["grams"]


@prusa_slicer
@pytest.mark.integration
def test_two_objects_with_odd_names_at_their_places(tmp_path: Path) -> None:
    names = ("two words", 'B <&"é id:7 copy 3')
    things = [Thing(name, [(BLOCK, 1)], [(50.0 + 40 * i, 60.0)]) for i, name in enumerate(names)]
    found = real(tmp_path, things, Expected(names))
    assert found.reasons == ()
    assert tuple(one.name for one in found.gcode.printed) == names
    first, second = (one.box for one in found.gcode.printed)
    assert first == pytest.approx((50.2, 60.2, 69.8, 79.8), abs=0.05)
    assert second == pytest.approx((90.2, 60.2, 109.8, 79.8), abs=0.05)


@prusa_slicer
@pytest.mark.integration
def test_an_open_mesh_is_sliced_and_yet_refused(tmp_path: Path) -> None:
    things = [Thing("A", [(opened(BLOCK), 1)]), Thing("B", [(BLOCK, 1)], [(90, 50)])]
    found = real(tmp_path, things, Expected(("A", "B")))
    assert 'the mesh of object "A" is not manifold: 3 open edges' in found.reasons
    assert [one.name for one in found.gcode.printed] == ["A", "B"]
    assert list(found.manifold) == [False, True]


@prusa_slicer
@pytest.mark.integration
def test_an_empty_layer_is_refused(tmp_path: Path) -> None:
    floating = Thing("A", [(box((0, 0, 0), (20, 20, 2)), 1), (box((0, 0, 3), (20, 20, 5)), 1)])
    found = real(tmp_path, [floating], Expected(("A",)))
    assert any("Empty layer between 2 and 3.2" in reason for reason in found.reasons)
    assert any("layer 11 reaches from 2 mm to 3.2 mm" in reason for reason in found.reasons)


@prusa_slicer
@pytest.mark.integration
def test_beside_the_bed_is_refused_though_the_slicer_does_not_mind(tmp_path: Path) -> None:
    things = [Thing("A", [(BLOCK, 1)]), Thing("B", [(BLOCK, 1)], [(240, 50)])]
    (reason,) = real(tmp_path, things, Expected(("A", "B"))).reasons
    assert "which is not all on the bed" in reason


@prusa_slicer
@pytest.mark.integration
@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04" + bytes(1000)])
def test_a_file_that_is_no_plate(content: bytes, tmp_path: Path) -> None:
    model = tmp_path / "mine.3mf"
    model.write_bytes(content)
    with pytest.raises(OutsideError, match=r"^mine\.3mf: PrusaSlicer .* ended with exit code 1"):
        slice_plate(find_slicer(), model, tmp_path / "out" / "g", PROFILE, Expected(()))
    assert list((tmp_path / "out").iterdir()) == []


@prusa_slicer
@pytest.mark.integration
@pytest.mark.parametrize("tower", [40.0, 0.0])
def test_a_letter_of_a_second_colour(tower: float, tmp_path: Path) -> None:
    profile = replace(FLIPPABLE, inlay="letter", tower_mm=tower)
    thing = Thing("A", [(BLOCK, 1), (LETTER, 2)])
    expected = Expected(("A",), 4.2, 2, (Feature("letter", 4.6, 5.2),))
    found = real(tmp_path, [thing], expected, profile, pause_parts(4.2, profile))
    assert found.reasons == ()
    first, second = found.document()["extruders"]
    assert first["grams"] > second["grams"] > 0
    text = (tmp_path / "out" / "plate.gcode").read_text()
    # The second filament is first taken for the letter's first layer.
    change = text.rindex("\nT1")
    assert f";Z:{4.8:g}\n" in text[:change]
    if tower:  # it stands in the corner that plates keep free
        left, _, right, back = found.gcode.box
        assert (right, back) < (profile.bed_width_mm - profile.plate_edge_mm,) * 2
        assert right > profile.bed_width_mm - profile.plate_edge_mm - tower
        assert left == pytest.approx(50.2, abs=0.05)


@prusa_slicer
@pytest.mark.integration
def test_the_settings_reach_the_slicer(tmp_path: Path) -> None:
    profile = replace(PROFILE, first_layer_mm=0.3, layer_mm=0.15, filament="PETG")
    assert real(
        tmp_path, [Thing("A", [(box((0, 0, 0), (20, 20, 4.5)), 1)])], Expected(("A",)), profile
    ).printable
    text = (tmp_path / "out" / "plate.gcode").read_text()
    taken = dict(
        line[2:].split(" = ", 1)
        for line in text.splitlines()
        if line.startswith("; ") and " = " in line
    )
    for line in print_settings(profile, 1).splitlines():
        if not line.startswith("#") and "=" in line:
            key, _, value = line.partition("=")
            assert taken[key.strip()] == value.strip(), key


def test_a_strange_material_stays_out_of_the_settings() -> None:
    text = print_settings(replace(PROFILE, filament="PLA\npost_process = rm"), 1)
    assert "rm" not in text.replace("perimeters", "").replace("perimeter", "").split()
    assert "filament_type" not in text
    assert "\ntemperature = 0\n" in text
