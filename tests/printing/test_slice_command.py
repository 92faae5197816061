"""`slice` as users call it: with the real slicer, and with some that are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.sets.library import shipped_names
from tests.support import fakeslicer
from tests.support.platefiles import with_prusa


@with_prusa
def test_slice(pair: str, run_json: Callable[..., Any]) -> None:
    estimated = sum(one["grams"] for one in run_json("bom", pair, "-p", "flippable")["filament"])
    document = run_json("slice", pair, "-p", "flippable")
    assert document["grams"] == pytest.approx(estimated, rel=0.05)
    (plate,) = document["plates"]
    assert document["printable"]
    assert sorted(one["name"] for one in plate["objects"]) == ["P", "Q"]
    assert all(one["manifold"] for one in plate["objects"])
    assert plate["pauses"] == [{"after_layer": 21, "height_mm": 4.2}]
    assert Path("output/pair/gcode/plate-1.gcode").stat().st_size > 10_000
    bom = run_json("bom", pair, "-p", "flippable")
    assert bom["print_seconds"] == document["seconds"]
    assert sum(one["grams"] for one in bom["filament"]) == pytest.approx(
        document["grams"], abs=0.05
    )
    again = run_json("slice", pair, "-p", "flippable")
    assert again == document


@pytest.mark.every(3)
@with_prusa
@pytest.mark.parametrize("profile", ["default", "flippable", "compact"])
@pytest.mark.parametrize("more", ["plate.face=up", "plate.face=down", "label.inlay=letter"])
def test_fridgeiq_is_printable(
    profile: str, more: str, tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    document = run_json("slice", "fridgeiq", "-p", profile, "-s", more, "-o", str(tmp_path))
    names = [one["name"] for plate in document["plates"] for one in plate["objects"]]
    assert sorted(names) == sorted("ABDEIJLMNOQRSTUY")
    pauses = [plate["pauses"] for plate in document["plates"]]
    assert all(bool(one) == (profile == "flippable") for one in pauses)


#: Shipped sets, and what has magnets embedded, a second colour, or its face down.
BILLS = [
    "fridgeiq -p flippable",
    "fridgeiq -p compact",
    "fridgeiq -s plate.face=down",
    "fridgeiq -s label.inlay=letter",
    "calendar -s board.text=inlay",
    "cubimagici -s cell.tones=inlay",
    *shipped_names(),
]


@pytest.mark.every(8)
@with_prusa
@pytest.mark.parametrize("bill", BILLS)
def test_the_bill_agrees_with_the_slicer(
    bill: str, tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    """Also with what the slicer purges between two colours."""
    arguments = [*bill.split(), "-o", str(tmp_path)]
    estimated = run_json("bom", *arguments)
    assert estimated["estimated"]
    grams = sum(line["grams"] for line in estimated["filament"])
    assert grams == pytest.approx(run_json("slice", *arguments)["grams"], rel=0.03)


@pytest.mark.every(2)
@with_prusa
@pytest.mark.parametrize("name", ["calendar", "dicesquare"])
def test_a_tray_with_texts_is_printable(
    name: str, tmp_path: Path, run_json: Callable[..., Any]
) -> None:
    assert main(["export-3mf", name, "-o", str(tmp_path), "-q"]) == 0
    document = run_json("slice", name, "-o", str(tmp_path))
    assert document["printable"]
    assert all(one["manifold"] for plate in document["plates"] for one in plate["objects"])
    assert not any(plate["pauses"] for plate in document["plates"])


def test_slice_without_a_slicer(
    pair: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["slice", pair]) == 3
    err = capsys.readouterr().err
    assert "apt install prusa-slicer" in err
    assert not Path("output").exists()


@pytest.mark.integration
def test_a_bad_slicer_changes_nothing(
    pair: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plate", pair, "-q"]) == 0
    before = sorted(Path("output").rglob("*"))
    for body in ("os.kill(os.getpid(), signal.SIGSEGV)", "time.sleep(600)"):
        program = fakeslicer.fake_slicer(tmp_path / "slicer", slice=body)
        assert main(["slice", pair, "--slicer", str(program), "--time-limit", "1"]) == 3
        err = capsys.readouterr().err
        assert (err.count("fabkit: "), "Traceback" in err) == (1, False)
        assert sorted(Path("output").rglob("*")) == before


def slicer_of_pairs(folder: Path, thickness_mm: float = 7.0, but: str = "") -> str:
    """A fake slicer that slices the two pieces, and leaves out lines that hold a text."""
    gcode = fakeslicer.gcode(("P", "Q"), layers=round(thickness_mm / 0.2))
    lines = [line for line in gcode.splitlines() if not but or but not in line]
    text = "\n".join(lines) + "\n"
    info = f"print({fakeslicer.ONE_OBJECT * 2!r})"
    program = fakeslicer.fake_slicer(
        folder, slice=f"write({text!r}); print({fakeslicer.OUTPUT!r})", info=info
    )
    return str(program)


def test_gcode_is_kept_whole_and_up_to_date(
    pair: str, run_json: Callable[..., Any], tmp_path: Path
) -> None:
    slicer = slicer_of_pairs(tmp_path / "slicer")
    document = run_json("slice", pair, "--slicer", slicer)
    assert document["printable"], document["plates"][0]["reasons"]
    # Other prices slice nothing again; other pieces make the times unknown.
    dear = run_json("bom", pair, "-s", "price.filament=100")
    assert (dear["print_seconds"], dear["estimated"]) == (3723, False)
    (plate,) = Path("output/pair/plates").glob("*.3mf")
    stamp = plate.stat().st_mtime_ns
    assert run_json("plate", pair, "-s", "price.filament=100")["written"] == 0
    assert plate.stat().st_mtime_ns == stamp
    thick = run_json("bom", pair, "-s", "thickness=8 mm")
    assert (thick["print_seconds"], thick["estimated"]) == (None, True)
    # G-code of plates that are gone goes, unless it was changed; what was cut short is made again.
    gcodes = Path("output/pair/gcode")
    gcode, stray, mine = (gcodes / f"plate-{number}.gcode" for number in (1, 2, 3))
    whole = gcode.read_bytes()
    manifest = json.loads(Path("output/pair/manifest.json").read_text())
    for path in (stray, mine):
        path.write_bytes(whole)
        manifest["files"][f"gcode/{path.name}"] = manifest["files"]["gcode/plate-1.gcode"]
    mine.write_text("changed by hand")
    gcode.write_bytes(whole[:100])
    Path("output/pair/manifest.json").write_text(json.dumps(manifest))
    run_json("slice", pair, "--slicer", slicer, "--force")
    assert sorted(path.name for path in gcodes.iterdir()) == ["plate-1.gcode", "plate-3.gcode"]
    assert gcode.read_bytes() == whole


def test_plates_cannot_change_while_they_are_sliced(
    pair: str, run_json: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fabkit.build import slicing

    slice_plate = slicing.slice_plate

    def while_another_lays_out(*arguments: Any) -> Any:
        assert main(["plate", pair, "-s", "plate.gap=9 mm", "-q"]) == 3
        return slice_plate(*arguments)

    monkeypatch.setattr(slicing, "slice_plate", while_another_lays_out)
    assert run_json("slice", pair, "--slicer", slicer_of_pairs(tmp_path / "slicer"))["printable"]


@pytest.mark.integration
def test_a_plate_that_cannot_be_printed_is_a_no_and_grams_may_be_unknown(
    pair: str, run_json: Callable[..., Any], tmp_path: Path
) -> None:
    slicer = slicer_of_pairs(tmp_path / "slicer", thickness_mm=6.0)
    document = run_json("slice", pair, "--slicer", slicer, code=1)
    assert not document["printable"]
    assert document["plates"][0]["reasons"]
    assert run_json("bom", pair)["print_seconds"] is None
    slicer = slicer_of_pairs(tmp_path / "slicer", but="filament used")
    assert run_json("slice", pair, "--slicer", slicer, "--force")["grams"] is None
    bom = run_json("bom", pair)
    assert (bom["print_seconds"], bom["estimated"]) == (3723, True)
