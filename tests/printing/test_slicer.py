"""Slicers that cannot be found, fail in all kinds of ways, or never end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fabkit.core.errors import InputError, OutsideError
from fabkit.model.profilefile import load_profile
from fabkit.printing.slicer.finding import NAMES, ORCA, PRUSA, Slicer, find_slicer
from fabkit.printing.slicer.running import MOST_SAID, run
from fabkit.printing.slicer.slicing import slice_plate
from fabkit.printing.slicer.verdict import Expected, Verdict
from tests.support.fakeslicer import fake_slicer, gcode

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
        (
            "print('gnu frobnicator 1.0')",
            "ended with exit code 0; its last words: gnu frobnicator 1.0",
        ),
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
        (
            "sys.exit('it is empty')",
            "PrusaSlicer 2.5.0 ended with exit code 1; its last words: it is empty",
        ),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"crashed \(SIGSEGV\) without a word"),
        ("print('done'); os.abort()", r"crashed \(SIGABRT\)"),
        ("pass", "wrote no G-code; it ended with exit code 0 without a word"),
        (
            "print('all well')",
            "wrote no G-code; it ended with exit code 0; its last words: all well",
        ),
        ("os.mkdir('plate.gcode')", "wrote no G-code"),
        ("write('')", "wrote G-code that is broken: it prints no layer"),
        ("write(os.urandom(300_000))", "wrote G-code that is broken"),
        ("write(bytes(5_000_000))", "wrote G-code that is broken: it prints no layer"),
        (f"write({gcode()!r}[:900])", "it ends without the estimated printing time"),
        (
            "[print('rubbish ' * 1000) for _ in range(400)]",
            "said 3200400 bytes, where a slicer says",
        ),
        ("sys.stdout.buffer.write(bytes(range(256)) * 9000)", "where a slicer says a few lines"),
        ("print('plate.3mf: not loaded'); sys.exit(1)", "its last words: mine.3mf: not loaded"),
    ],
)
def test_slicers_that_fail(slice: str, message: str, tmp_path: Path) -> None:
    assert re.search(message, failure(fake_slicer(tmp_path, slice), tmp_path))


def test_one_that_tells_of_no_objects(tmp_path: Path) -> None:
    message = failure(fake_slicer(tmp_path, info="print('nothing here')"), tmp_path)
    assert message.endswith(
        "tells of no objects; it ended with exit code 0; its last words: nothing here"
    )


def test_one_that_cannot_be_started(tmp_path: Path) -> None:
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
    "open({note!r}, 'w').write(str(subprocess.Popen([sys.executable, '-c', "
    "'import time; time.sleep(600)']).pid)); "
)


def test_one_that_hangs_is_stopped_with_all_its_children(tmp_path: Path) -> None:
    note = tmp_path / "note"
    slice = GRANDCHILD.format(note=str(note)) + "print('30 => Infill', flush=True); time.sleep(600)"
    message = failure(fake_slicer(tmp_path, slice), tmp_path, limit_s=3)
    assert "was stopped: it was not done within 3 seconds; its last words: 30 => Infill" in message
    assert is_gone(int(note.read_text()))


def test_children_that_outlive_a_good_one_are_ended(tmp_path: Path) -> None:
    note = tmp_path / "note"
    slice = GRANDCHILD.format(note=str(note)) + f"write({gcode()!r})"
    assert verdict(fake_slicer(tmp_path, slice), tmp_path).printable
    assert is_gone(int(note.read_text()))


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
