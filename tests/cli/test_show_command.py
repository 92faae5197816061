"""`fabkit show` with its drawings, and those of `fabkit solve`. Refusals are in tests/bad."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from fabkit.cli import main
from fabkit.sets.library import load_set
from tests.support.drawings import of_class, root_of, scale_of, shapes, texts

pytestmark = pytest.mark.usefixtures("empty_folder")


def stdout_of(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    return capsys.readouterr().out


def test_pieces_in_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    out = stdout_of(
        capsys, "show", "iqstars", "-o", "new/p.PNG", "--width", "300", "--theme", "dark"
    )
    assert out.endswith("Wrote new/p.PNG\n")
    picture = Image.open(io.BytesIO(Path("new/p.PNG").read_bytes()))
    assert picture.width == 300
    assert picture.convert("RGB").getpixel((150, 2)) == (22, 24, 29)


def test_a_challenge_its_solution_and_its_steps(capsys: pytest.CaptureFixture[str]) -> None:
    show = ("show", "fridgeiq", "--challenge", "square_02", "-o", "s.svg")
    out = stdout_of(capsys, *show)
    assert "square_02  Square 2  challenge" in out
    assert out.endswith("Wrote s.svg\n")
    alone = root_of(Path("s.svg").read_text())
    assert texts(alone)[0] == "FridgeIQ · square_02"
    assert not list(of_class(alone, "piece"))
    assert scale_of(alone) == 1

    stdout_of(capsys, *show, "--solution")
    root = root_of(Path("s.svg").read_text())
    asked, answered = shapes(root, "region")
    assert asked.area == pytest.approx(answered.area) == pytest.approx(16 * 20**2, rel=1e-3)
    pieces = len(shapes(root, "piece"))

    stdout_of(capsys, *show, "--steps", "-s", "unit=10mm")
    steps = root_of(Path("s.svg").read_text())
    assert len(shapes(steps, "region")) == pieces + 1
    assert "unit 10 mm, drawn 1 : 1" in texts(steps)

    stdout_of(capsys, *show, "--grid", "--theme", "light", "-q")
    assert len(list(of_class(root_of(Path("s.svg").read_text()), "faint-line"))) == 1


@pytest.mark.integration
def test_what_has_no_solution_is_drawn_without_one(capsys: pytest.CaptureFixture[str]) -> None:
    show = ("show", "fridgeiq", "--challenge", "rectangle_02_b", "-o", "r.svg")
    assert "Wrote r.svg" in stdout_of(capsys, *show)
    assert not list(of_class(root_of(Path("r.svg").read_text()), "piece"))
    alone = Path("r.svg").read_bytes()
    for wanted in ("--solution", "--steps"):
        Path("r.svg").unlink()
        out = stdout_of(capsys, *show, wanted, code=1)
        assert out.endswith("rectangle_02_b has no solution\nWrote r.svg\n")
        assert Path("r.svg").read_bytes() == alone
    document = json.loads(stdout_of(capsys, *show, "--steps", "--json", code=1))
    assert (document["status"], document["file"]) == ("impossible", "r.svg")


def test_a_budget_that_is_spent_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    show = ("show", "iqfit", "--challenge", "board", "--solution", "--budget", "0", "-o", "b.svg")
    out = stdout_of(capsys, *show, code=1)
    assert out.endswith("board was not solved within the time limit (--budget)\nWrote b.svg\n")


@pytest.mark.integration
def test_of_a_catalog_one_challenge_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    catalog = str(Path(__file__).parents[2] / "pieces/catalogs/fridgeiq.json")
    assert main(["show", "fridgeiq", "--file", catalog]) == 2
    stderr = capsys.readouterr().err
    assert "holds 246 challenges; name one: even4-0057708264, " in stderr
    assert stderr.endswith(" and 238 more\n")
    out = stdout_of(
        capsys, "show", "fridgeiq", "--file", catalog, "--challenge", "even4-0057708264"
    )
    assert "even4-0057708264  Snowflake Acacia  snowflake" in out


def test_nothing_is_written_where_nothing_can_be(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("s.svg", "s.png"):
        assert main(["show", "iqstars", "-o", f"/proc/none/{name}"]) == 3
        stderr = capsys.readouterr().err
        assert stderr.startswith(f"fabkit: cannot write /proc/none/{name}: ")
        assert stderr.count("\n") == 1


#: A set to be changed a little: two pieces that share no label.
MINE = """
[set]
name = "mine"
title = "Mine"
lattice = "square"
moves = "rotations"

[[piece]]
id = "alpha"
rows = ["xxxx"]

[[piece]]
id = "bar"
rows = ["x"]

[[challenge]]
id = "row"
cells = [[0, 0], [0, 1], [0, 2], [0, 3], [0, 4]]
"""


def write_mine(*changes: tuple[str, str]) -> None:
    text = MINE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    Path("mine.toml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("iqfit", "`fabkit snowflakes iqfit` cannot make one: it has pieces whose area depends on"),
        ("iqstars", "`fabkit snowflakes iqstars` cannot make one: it uses the hexagon"),
        ("mine.toml", "`fabkit snowflakes mine.toml` to make one"),
    ],
)
def test_a_catalog_is_promised_only_where_one_can_be_made(
    name: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_mine()
    assert main(["show", name, "--catalog"]) == 2
    assert message in capsys.readouterr().err
    made = ["snowflakes", name, "--parity", "odd", "--max-half-width", "1", "--workers", "1"]
    makes = message.endswith("to make one")
    assert main([*made, "--count-budget", "0", "-q"]) == (1 if makes else 2)  # 1: there are none
    capsys.readouterr()


def test_labels_that_pieces_share_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    for renamed, note in (
        ("bar", ""),
        (
            "abc",
            "warning: different pieces share a label: A (alpha, abc); change them in mine.toml\n",
        ),
    ):
        write_mine(('"bar"', f'"{renamed}"'))
        assert main(["show", "mine.toml"]) == 0
        assert capsys.readouterr().err == note


def test_letters_that_a_picture_lacks_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    write_mine(('"Mine"', '"日本 🧩"'))
    for what in ((), ("--challenge", "row"), ("--challenge", "row", "--steps")):
        assert main(["show", "mine.toml", *what, "-o", "m.png", "--width", "300"]) == 0
        stderr = capsys.readouterr().err
        assert (
            stderr
            == "warning: the font has no U+65E5, U+672C, U+1F9E9; an empty box is shown instead\n"
        )
    assert main(["show", "mine.toml", "-o", "m.svg"]) == 0
    assert capsys.readouterr().err == ""


def test_a_letter_that_cannot_be_printed_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    write_mine(('"bar"', '"bar"\nlabel = "Mm8"'))
    assert main(["show", "mine.toml", "-o", "m.svg"]) == 0
    stderr = capsys.readouterr().err
    assert stderr.startswith(
        "warning: piece bar: drawn without its letter, which cannot be printed: "
    )
    assert "cap_height" not in stderr  # which is of no use where there is no room
    assert {"alpha", "bar"} <= set(texts(root_of(Path("m.svg").read_text())))
    # What is wrong besides the letter is refused.
    assert main(["show", "mine.toml", "-o", "no.svg", "-s", "top_chamfer=30mm"]) == 2
    assert not Path("no.svg").exists()


@pytest.mark.integration
def test_magnets_that_do_not_fit_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """In drawings only: files to print are refused."""
    large = ("--piece", "2", "-s", "recess.fit=press", "-s", "magnet.diameter=38mm")
    assert main(["show", "iqblock", "-o", "p.svg", *large]) == 0
    stderr = capsys.readouterr().err
    assert stderr.startswith("warning: piece")
    assert ": drawn without magnets, which do not fit: " in stderr
    assert "magnet" not in " ".join(texts(root_of(Path("p.svg").read_text())))
    assert main(["export-svg", "iqblock", "-o", "out", *large]) == 2
    assert not Path("out").exists()


@pytest.mark.integration
def test_a_catalog_has_its_letters_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    out = stdout_of(capsys, "show", "fridgeiq", "--catalog", "-o", "c.svg")
    rows = [line.split() for line in out.splitlines()]
    (count,) = [row[-2] for row in rows if row[0] == "even4-02febfb20e"]
    assert count == "5,200"
    ends = {len(line[: line.rindex(" ")].rstrip()) for line in out.splitlines()[1:147]}
    assert len(ends) == 1  # to the right
    out = stdout_of(capsys, "show", "fridgeiq", "--challenge", "even4-02febfb20e")
    assert "5,200" in out.splitlines()[1].split()
    source = Path("c.svg").read_text()
    assert len(source) < 1_000_000
    root = root_of(source)
    letters = [one.text for one in of_class(root, "label")]
    assert len(letters) == 146 * 16
    assert sorted(letters[:16]) == sorted(piece.label for piece in load_set("fridgeiq").pieces)
    shown = texts(root)
    assert "5,200 solutions, flips" in shown
    assert not any(text.split(" ")[0].isdigit() and len(text.split(" ")[0]) > 3 for text in shown)
