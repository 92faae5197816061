"""`fabkit booklet` and the booklet of `fabkit make`, as users call them."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fabkit.cli import main
from tests.support.pairset import PAIR

QUICK = ("--no-picture", "-q")


def pages_of(path: Path) -> list[str]:
    from pypdf import PdfReader

    return [page.extract_text() for page in PdfReader(path).pages]


_OUTLINE = "outline = [[0, 0], [2, 0], [2, 1], [0, 1]]\n"
#: One P cannot fill this.
_HOPELESS = (
    '\n[[challenge]]\nid = "hopeless"\npieces = "P"\noutline = [[0, 0], [1, 0], [1, 1], [0, 1]]\n'
)


# --- the command
# ------------------------------------------------------------------------------------


def test_the_booklet_comes_into_the_output_folder(pair: str, run_json: Callable[..., Any]) -> None:
    from pypdf import PdfReader

    document = run_json("booklet", pair)
    path = Path("output/pair/booklet.pdf")
    assert document["file"] == str(path)
    assert (document["challenges"], document["notes"]) == (["bar"], [])
    pages = pages_of(path)
    assert len(pages) == document["pages"]
    assert "Two & <more>" in pages[0]
    manifest = json.loads((path.parent / "manifest.json").read_text())
    listed = manifest["files"]["booklet.pdf"]["sha256"]
    assert listed == hashlib.sha256(path.read_bytes()).hexdigest()
    # The picture of the printed set is on the cover: the pieces' colours, lit.
    (picture,) = PdfReader(path).pages[0].images
    pixels = np.asarray(Image.open(io.BytesIO(picture.data)).convert("HSV")).astype(int)
    assert min(pixels.shape[:2]) > 100
    coloured = pixels[pixels[:, :, 1] > 150][:, 0]
    orange, blue = ((coloured > low) & (coloured < high) for low, high in ((20, 35), (135, 160)))
    assert orange.mean() > 0.2
    assert blue.mean() > 0.2


@pytest.mark.integration
def test_challenges_are_chosen(pair: str, run_json: Callable[..., Any]) -> None:
    Path("mine.toml").write_text(
        'title = "<script>alert(1)</script> שלום"\npieces = "P"\n' + _OUTLINE
    )
    Path(pair).write_text(PAIR + '\n[[challenge]]\nid = "one"\npieces = "P"\n' + _OUTLINE)
    arguments = ("booklet", pair, "-o", "b.pdf", "--no-picture")
    for chosen, wanted in (
        ([], ["bar", "one"]),
        (["--only", "one", "--language", "de"], ["one"]),
        (["--challenges", "mine.toml"], ["mine"]),
        (["--challenges", "mine.toml", "--only", "mine"], ["mine"]),
    ):
        document = run_json(*arguments, *chosen)
        assert document["challenges"] == wanted
        text = "\n".join(pages_of(Path("b.pdf")))
        assert ("Lösung" in text) == (document["language"] == "de") == ("de" in chosen)
        assert ("<script>alert(1)</script>" in text) == ("mine" in wanted)
    assert not Path("output").exists()
    assert main([*arguments, "--challenges", "mine.toml", "--only", "one", "-q"]) == 2


@pytest.mark.integration
def test_a_booklet_of_some_challenges_is_another_file(
    pair: str, run_json: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("output/pair")
    Path("mine.toml").write_text("pieces_count = 1\n" + _OUTLINE)
    whole = Path(run_json("booklet", pair, "--no-picture")["file"])
    before = whole.read_bytes()
    for options, name in (
        (["--only", "bar"], "booklet-bar.pdf"),
        (["--challenges", "mine.toml"], "booklet-selection.pdf"),
        (["--edition", "full-size"], "booklet-full-size.pdf"),
        (["--fold"], "booklet-fold.pdf"),
    ):
        assert run_json("booklet", pair, "--no-picture", *options)["file"] == str(folder / name)
        assert name in json.loads((folder / "manifest.json").read_text())["files"]
    # Any one of the pieces fills it.
    assert any("1 piece · 2 × 1" in text for text in pages_of(folder / "booklet-selection.pdf"))
    assert whole.read_bytes() == before
    whole.write_bytes(b"mine")
    assert main(["booklet", pair, *QUICK]) == 2
    assert "has been changed since: booklet.pdf; move it away" in capsys.readouterr().err
    assert whole.read_bytes() == b"mine"
    assert main(["booklet", pair, *QUICK, "--force"]) == 0
    assert whole.read_bytes() == before


@pytest.mark.integration
def test_a_booklet_to_fold_says_how_to_print_it(
    pair: str, run_json: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["booklet", pair, "--no-picture", "--fold"]) == 0
    out = capsys.readouterr().out
    assert "5 pages, 2 sheets of A4" in out
    assert "double-sided, flipped on the short edge; fold, and staple the fold" in out
    document = run_json("booklet", pair, "--no-picture", "--fold")
    assert (document["edition"], document["pages"], document["sheets"]) == ("play", 5, 2)
    assert main(["booklet", pair, *QUICK, "--fold", "--edition", "full-size"]) == 2


@pytest.mark.integration
def test_what_has_no_solution_is_left_out_or_refused(
    pair: str, run_json: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(pair).write_text(PAIR + _HOPELESS)
    document = run_json("booklet", pair, "-o", "b.pdf", "--no-picture")
    assert document["challenges"] == ["bar"]
    assert document["notes"] == ["hopeless has no solution; skipped"]
    assert "hopeless" not in "\n".join(pages_of(Path("b.pdf"))).lower()
    Path(pair).write_text(PAIR[: PAIR.index("[[challenge]]")] + _HOPELESS)
    assert main(["booklet", pair, "-o", "b.pdf", *QUICK]) == 2
    err = capsys.readouterr().err
    assert err == ("fabkit: pair: no challenge has a known solution: hopeless has no solution\n")


# --- make
# -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_make_writes_the_booklet_once(
    pair: str, run_json: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path("output/pair/booklet.pdf")
    assert run_json("make", pair)["booklet"] == {"file": "booklet.pdf", "written": True}
    assert "Two & <more>" in pages_of(path)[0]
    before, content = path.stat().st_mtime_ns, path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("fabkit.build.booklet.make_booklet", None)  # nobody makes it again
        assert run_json("make", pair)["booklet"] == {"file": "booklet.pdf", "written": False}
    assert path.stat().st_mtime_ns == before
    # What counts, counts: a price does not, a list of challenges does; and a changed file is
    # mended.
    assert not run_json("make", pair, "-s", "price.filament=99")["booklet"]["written"]
    path.write_bytes(b"%PDF-")
    assert main(["make", pair, "-q"]) == 2
    path.unlink()
    assert run_json("make", pair)["booklet"]["written"]
    assert path.read_bytes() == content
    assert main(["booklet", pair, "--language", "de", *QUICK]) == 0
    assert path.read_bytes() != content
    assert run_json("make", pair)["booklet"]["written"]
    assert path.read_bytes() == content
    listed = {"id": "one", "pieces": "P", "outline": [[0, 0], [2, 0], [2, 1], [0, 1]]}
    document = {"schema": 1, "set": "pair", "challenges": [listed]}
    Path("output/pair/challenges.json").write_text(json.dumps(document))
    assert run_json("make", pair)["booklet"]["written"]
    assert path.read_bytes() != content
    # And the booklet that the command makes is the one that make makes.
    content = path.read_bytes()
    assert main(["booklet", pair, "-q"]) == 0
    assert path.read_bytes() == content
    assert not run_json("make", pair)["booklet"]["written"]


@pytest.mark.integration
def test_make_does_without_a_booklet(
    pair: str, capsys: pytest.CaptureFixture[str], run_json: Callable[..., Any]
) -> None:
    Path(pair).write_text(PAIR[: PAIR.index("[[challenge]]")])
    document = run_json("make", pair)
    assert (document["ok"], document["booklet"], document["warnings"]) == (True, None, [])
    assert not Path("output/pair/booklet.pdf").exists()
    assert main(["make", pair]) == 0
    assert "No booklet: pair: has no challenge and no board; give a" in capsys.readouterr().out
