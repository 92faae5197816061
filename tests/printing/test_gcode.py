"""G-code is read back: layers, objects, pauses, sums; and whatever else a file may hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabkit.core.errors import ExternalError
from fabkit.printing.slicer.gcode import Gcode, read_gcode
from fabkit.printing.slicer.verdict import Feature, layers_of_feature
from tests.support.fakeslicer import gcode


def read(text: str | bytes, folder: Path) -> Gcode:
    path = folder / "plate.gcode"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_gcode(path, "plate.3mf: a slicer")


def test_layers_objects_and_sums(tmp_path: Path) -> None:
    found = read(gcode(["A", "B"], layers=3), tmp_path)
    spans = [(layer.low_mm, layer.top_mm) for layer in found.layers]
    assert spans == [(0, 0.2), (0.2, 0.4), (0.4, 0.6)]
    first, second = found.objects
    assert (first.name, first.number, first.copy) == ("A", 0, 0)
    assert (first.first_layer, first.last_layer, first.layers) == (1, 3, 3)
    assert (first.low_mm, first.high_mm) == (0, 0.6)
    assert first.box == (50, 60, 70, 80)
    assert second.box == (80, 60, 100, 80)
    assert found.box == (50, 60, 100, 80)
    assert not found.pauses
    assert (found.seconds, found.metres) == (3723, (0.5, 0.1))
    assert (found.grams, found.total_grams) == ((1.49, 0.3), 1.79)


@pytest.mark.parametrize(("after", "height_mm"), [(3, 0.6), (0, 0.0), (5, 1.0)])
def test_a_pause_belongs_to_the_layer_that_was_printed_before_it(
    after: int, height_mm: float, tmp_path: Path
) -> None:
    # In the file it comes after the next layer's own comments.
    (stop,) = read(gcode(layers=5, pause_after=after), tmp_path).pauses
    assert (stop.layer, stop.height_mm, stop.between) == (after, height_mm, True)


def test_a_pause_in_the_middle_of_a_layer(tmp_path: Path) -> None:
    text = gcode(layers=2).replace("G1 Y80 E.5 ; A", "M601\nG1 Y80 E.5")
    stops = read(text, tmp_path).pauses
    assert [(stop.layer, stop.between) for stop in stops] == [(1, False), (2, False)]


def test_a_comment_and_its_command_are_one_pause_and_settings_are_none(tmp_path: Path) -> None:
    text = gcode(layers=5, pause_after=3)
    assert text.count("M601") == 2  # the second one is the setting at the end
    assert len(read(text, tmp_path).pauses) == 1
    assert len(read(text.replace(";PAUSE_PRINT\n", ""), tmp_path).pauses) == 1
    assert len(read(text.replace("\nM601\n", "\n"), tmp_path).pauses) == 1


def test_a_layer_or_an_object_without_plastic_is_none(tmp_path: Path) -> None:
    found = read(gcode(layers=5, skip=[3]), tmp_path)
    assert [layer.top_mm for layer in found.layers] == [0.2, 0.4, 0.8, 1.0]
    found = read(gcode(["A", "B"], layers=5, skip=[3]), tmp_path)
    assert [one.layers for one in found.objects] == [5, 4]
    text = gcode(layers=1) + "; printing object B id:1 copy 0\nG1 X1 Y1\nG1 E2\n"
    assert [one.name for one in read(text, tmp_path).objects] == ["A"]


def test_names_of_all_kinds(tmp_path: Path) -> None:
    names = ["two words", 'B <&"é id:7 copy 3', "", " ", "id:0 copy 0", "; LAYER_CHANGE", "日本"]
    found = read(gcode(names, layers=2), tmp_path).objects
    assert [(one.name, one.number) for one in found] == [(n, i) for i, n in enumerate(names)]


def test_copies_are_objects_of_their_own(tmp_path: Path) -> None:
    text = gcode(["A"], layers=1) + gcode(["A"], layers=1).replace("copy 0", "copy 1")
    assert [one.copy for one in read(text, tmp_path).objects] == [0, 1]


def test_absolute_lengths_of_filament_are_followed(tmp_path: Path) -> None:
    text = (
        ";LAYER_CHANGE\n;Z:0.2\nM82\n; printing object A id:0 copy 0\nG1 X1 Y1 E5\nG92 E0\n"
        "G1 X2 Y1 E1\nG1 X9 Y9 E1\nG1 X8 Y8 E.5\n; estimated printing time (normal mode) = 5s\n"
    )
    (one,) = read(text, tmp_path).objects
    # Neither the travel to 9, 9 nor the retraction on the way to 8, 8.
    assert one.box == (0, 0, 2, 1)


def test_what_is_purged_before_the_first_layer_belongs_to_none(tmp_path: Path) -> None:
    text = "M83\nG1 X0 Y-3\nG1 X60 Y-3 E9\n" + gcode(layers=1)
    assert read(text, tmp_path).box == (50, 60, 70, 80)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (";Z:0.4", ";Z:nan", 'expected a number, found "nan"'),
        (";Z:0.4", ";Z:", 'expected a number, found ""'),
        (";Z:0.4", ";Z:0.1", "one at 0.2 mm; expected layer on layer (line 15)"),
        (";Z:0.2", ";Z:-1", "a layer at -1 mm; expected it above the bed"),
        ("G1 Y80 E.5", "G1 Y80 E", 'expected a number, found ""'),
        ("G1 Y80 E.5", "G1 Yinf E.5", 'expected a number, found "inf"'),
        ("G1 Y80 E.5", f"G1 Y{'9' * 400} E.5", "expected a number"),
        ("object A id:0 copy 0", "object A", "expected an object's name, id and copy"),
        ("= 1h 2m 3s", "= soon", 'expected a time such as "1h 2m 3s", found "soon"'),
        ("= 1h 2m 3s", "= ", "ends without the estimated printing time"),
        ("[g] = 1.49", "[g] = -1.49", 'expected amounts, found "-1.49, 0.30"'),
        ("[g] = 1.49", "[g] = nan", 'expected a number, found "nan"'),
        ("[mm] = 500.00,", "[mm] = much,", 'expected a number, found "much"'),
    ],
)
def test_broken_numbers_are_refused_with_their_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    text = gcode(layers=3)
    assert old in text
    with pytest.raises(ExternalError) as caught:
        read(text.replace(old, new, 1), tmp_path)
    assert str(caught.value).startswith("plate.3mf: a slicer wrote G-code that is broken: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unfinished_files_are_refused(tmp_path: Path) -> None:
    for text in ("", bytes(range(256)) * 500):
        with pytest.raises(ExternalError, match="it prints no layer"):
            read(text, tmp_path)
    with pytest.raises(ExternalError, match="it ends without the estimated printing time"):
        read(gcode(end=False), tmp_path)


def test_endless_lines_and_windows_line_ends_change_nothing(tmp_path: Path) -> None:
    text = gcode(layers=3, pause_after=1)
    found = read(text, tmp_path)
    assert read(text.replace("G28 ; home", "G28 ; home" + "x" * 5_000_000, 1), tmp_path) == found
    assert read(text.replace("\n", "\r\n"), tmp_path) == found


LINES = gcode(["A", "B"], layers=2, pause_after=1).splitlines()


@given(
    st.lists(
        st.one_of(
            st.sampled_from(LINES), st.text(max_size=40), st.sampled_from([";Z:", "G1 X", "M82"])
        ),
        max_size=30,
    )
)
def test_any_lines_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("g") / "any.gcode"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    try:
        found = read_gcode(path, "a slicer")
    except ExternalError:
        return
    assert found.layers


def test_times(tmp_path: Path) -> None:
    times = {"5s": 5, "18m 32s": 1112, "1h 0m 1s": 3601, "2d 3h 4m 5s": 183845, "3m": 180}
    for text, seconds in times.items():
        assert read(gcode(layers=1).replace("1h 2m 3s", text), tmp_path).seconds == seconds


def test_the_layers_of_a_feature(tmp_path: Path) -> None:
    layers = read(gcode(layers=26), tmp_path).layers
    for low_mm, high_mm, found in (
        (1.0, 4.2, [6, 21, True, True]),
        (4.75, 5.2, [25, 26, False, True]),
        (5.2, 5.6, [None, None, False, False]),
        (5.15, 5.2, [None, None, False, False]),
    ):
        assert [*layers_of_feature(Feature("recess", low_mm, high_mm), layers).values()][
            3:
        ] == found
