"""`fabkit snowflakes` as people and scripts meet it; what it lists is checked without its code."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.jobs.checkpoint import CHECKPOINT_NAME
from fabkit.puzzles.snowflakes import search
from fabkit.puzzles.snowflakes.catalog import merged
from fabkit.puzzles.snowflakes.tiling import OPEN, Attempt
from tests.support.drat import refutes
from tests.support.snowflakes import catalog_faults

Capture = pytest.CaptureFixture[str]
Catalog = dict[str, Any]
FRIDGE = ["fridgeiq", "--pieces", "IJMR"]
#: The square of the box's challenge square_02, and another shape, among some that are impossible.
SEVEN = ["fridgeiq", "--pieces", "BDJNQSY", "--max-half-width", "3"]

HEAD = '[set]\nname = "{}"\nlattice = "square"\nmoves = "{}"\n'
PIECE = '\n[[piece]]\nid = "{}"\ncells = {}\n'
I4, O4 = "[[0, 0], [0, 1], [0, 2], [0, 3]]", "[[0, 0], [0, 1], [1, 0], [1, 1]]"
L3, S4 = "[[0, 0], [0, 1], [1, 0]]", "[[0, 0], [0, 1], [1, 1], [1, 2]]"
L4, J4 = "[[0, 0], [1, 0], [2, 0], [2, 1]]", "[[0, 1], [1, 1], [2, 1], [2, 0]]"
#: For each set its moves and its pieces.
SETS = {
    # Four bars make a ring around the block: half a unit away, so of mixed parity.
    "ring": ("rotations", [I4, I4, I4, I4, O4]),
    "dots": ("rotations", ["[[0, 0]]"] * 5),
    "hooks": ("rotations and flips", [L3, L3, L3, L3]),
    "ells": ("rotations and flips", [L4, L4, L4, J4]),
    "skew": ("rotations and flips", [S4, S4, "[[0, 0], [0, 1]]", "[[0, 0], [0, 1]]", O4]),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put_sets(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run and the catalog of `SEVEN`; to be copied by those that change it."""
    folder = tmp_path_factory.mktemp("seven") / "out"
    made(*SEVEN, folder=str(folder))
    return folder


def catalog_in(folder: Path) -> Catalog:
    catalog: Catalog = json.loads((folder / "snowflakes.json").read_text())
    return catalog


def put_sets(folder: Path) -> None:
    for name, (moves, pieces) in SETS.items():
        drawn = "".join(PIECE.format(chr(65 + at), cells) for at, cells in enumerate(pieces))
        (folder / f"{name}.toml").write_text(HEAD.format(name, moves) + drawn)


def made(*arguments: str, code: int = 0, folder: str = "out") -> Catalog:
    """The catalog that a command wrote, whatever set's lay there before."""
    before = Path(folder, "snowflakes.json")
    if before.exists() and json.loads(before.read_text())["set"] not in arguments[0]:
        before.unlink()
    usual = [] if "--workers" in arguments else ["--workers", "1"]
    assert main(["snowflakes", *arguments, "-o", folder, *usual]) == code
    catalog: Catalog = json.loads(Path(folder, "snowflakes.json").read_text())
    return catalog


def files(folder: str = "out") -> dict[str, bytes]:
    names = ("snowflakes.json", "snowflakes.svg")
    return {name: Path(folder, name).read_bytes() for name in names}


def names(folder: Path | str) -> list[str]:
    """What is in a folder, but for the lock."""
    return sorted(path.name for path in Path(folder).iterdir() if path.name[0] != ".")


def ids(catalog: Catalog, parity: str = "") -> list[str]:
    return [one["id"] for one in catalog["challenges"] if parity in ("", one["parity"])]


# --- what it finds ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["ring.toml"], {"even": 1, "mixed": 1}),
        (["dots.toml", "--wandering", "--max-half-width", "3"], {"odd": 6, "mixed": 2}),
        (["skew.toml"], {}),
        *(
            pytest.param(*one, marks=pytest.mark.integration)
            for one in (
                (FRIDGE, {"odd": 1}),
                ([*FRIDGE, "--flips"], {"odd": 1}),
                (["dots.toml"], {"odd": 2}),
                (["hooks.toml"], {"even": 2, "odd": 1}),
                (["ells.toml"], {"even": 1, "odd": 3}),
            )
        ),
    ],
    ids=" ".join,
)
def test_what_is_listed_is_right(arguments: list[str], found: dict[str, int], here: Path) -> None:
    """Every solution is drawn with shapely, and the funnel adds up."""
    catalog = made(*arguments, code=0 if found else 1)
    assert catalog_faults(catalog, arguments[0]) == []
    solved = {part["parity"]: part["solved"] for part in catalog["complete"]}
    assert {parity: count for parity, count in solved.items() if count} == found


def test_what_is_listed_of_seven_is_right(seven: Path) -> None:
    catalog = catalog_in(seven)
    assert catalog_faults(catalog, "fridgeiq") == []
    assert [part["solved"] for part in catalog["complete"]] == [1, 1, 0]


@pytest.mark.integration
def test_two_searches_as_one_catalog(here: Path) -> None:
    """What needs no flip is listed as it was made without, and nothing twice."""
    for name, code in (("hooks", 0), ("ells", 1)):
        turned = made(f"{name}.toml", "--no-flips", code=code)
        both = merged(turned, made(f"{name}.toml", "--flips"), "fabkit")
        assert catalog_faults(both, f"{name}.toml") == []
        for entry in both["challenges"]:
            entry["flips"] = not entry["flips"]
        assert catalog_faults(both, f"{name}.toml") != []


#: What is done to an entry of a catalog, and what is then said of it.
SPOILT: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda one: one.pop("count"), "count is missing"),
    (lambda one: one["solution"].popitem(), "the pieces do not make the shape"),
    (lambda one: one["solution"].update(D=one["solution"]["N"]), "D is not as drawn"),
    (lambda one: one["solution"].update(D=one["solution"]["N"]), "overlaps"),
    (lambda one: one["outlines"][0][0].reverse(), ""),
    (lambda one: one["outlines"][0][0].pop(), "is not symmetric"),
    (lambda one: one.update(half_width=3), "has another half-width"),
    (lambda one: one.update(parity="odd"), "does not lie on a grid of its parity"),
    (lambda one: one.update(rigid=False), "does not fall apart"),
]


def test_what_judges_catalogs_notices_what_is_wrong(seven: Path) -> None:
    for spoil, expected in SPOILT:
        catalog = catalog_in(seven)
        spoil(catalog["challenges"][0])
        found = catalog_faults(catalog, "fridgeiq")
        assert any(expected in said for said in found) if expected else not found, expected


@pytest.mark.integration
def test_each_parity_alone(here: Path) -> None:
    whole = made("ring.toml")
    for parity in ("even", "odd", "mixed"):
        alone = made("ring.toml", "--parity", parity, code=1 if parity == "odd" else 0)
        assert alone["complete"] == [one for one in whole["complete"] if one["parity"] == parity]
        assert ids(alone) == ids(whole, parity)
        assert alone["made"]["command"].endswith(f" --parity {parity}")
    both = made("ring.toml", "--parity", "mixed, even")
    assert ids(both) == ids(whole)
    assert [part["parity"] for part in both["complete"]] == ["even", "mixed"]


@pytest.mark.integration
def test_flips_find_more(here: Path) -> None:
    turned, flipped = made("ells.toml", "--no-flips", code=1), made("ells.toml", code=0)
    assert set(ids(turned)) < set(ids(flipped))
    assert {one["flips"] for one in flipped["challenges"]} == {True}
    assert turned["made"]["command"] == "fabkit snowflakes ells.toml --no-flips"
    assert made("ells.toml", "--flips") == flipped


def test_no_farther_than_asked(here: Path) -> None:
    whole = made("hooks.toml")
    for half_width in ("0", "2", "40"):  # no even board is so small that it has no cell
        near = [one for one in whole["challenges"] if one["half_width"] <= int(half_width)]
        few = made("hooks.toml", "--max-half-width", half_width, code=0 if near else 1)
        assert few["challenges"] == near
        for part, all_of_it in zip(few["complete"], whole["complete"], strict=True):
            is_whole = part["half_width_max"] == all_of_it["half_width_max"]
            assert is_whole == (half_width == "40")
            assert part["argument"].startswith("every rigid shape there is on ") == is_whole


@pytest.mark.integration
def test_wandering_finds_more(here: Path) -> None:
    rigid = made("dots.toml", "--max-half-width", "3")
    wandering = made("dots.toml", "--max-half-width", "3", "--wandering")
    of_them = [one for one in wandering["challenges"] if one["rigid"]]
    assert of_them == rigid["challenges"]
    assert len(of_them) < len(wandering["challenges"])
    assert {part["rigid"] for part in wandering["complete"]} == {False}


def test_counts(seven: Path, here: Path, capsys: Capture) -> None:
    """The first one is a challenge on the box, which the oracle counts."""
    counted, not_counted = catalog_in(seven), made(*SEVEN, "--count-budget", "0")
    for one, other in zip(counted["challenges"], not_counted["challenges"], strict=True):
        assert one["count_complete"]
        assert (other["count"], other["count_complete"]) == (1, False)
        assert one["solution"] == other["solution"]
    assert counted["challenges"][0]["outlines"] == [[[[-2, -2], [2, -2], [2, 2], [-2, 2]]]]
    capsys.readouterr()
    oracle = ["solve", "fridgeiq", "square_02", "--count", "--engine", "sat", "--json"]
    assert main(oracle) == 0
    assert counted["challenges"][0]["count"] == json.loads(capsys.readouterr().out)["count"]


# --- files and output ------------------------------------------------------------------------------


def test_what_it_says(here: Path, capsys: Capture) -> None:
    timed = made("ring.toml", "-v", "--timed")
    assert timed["made"].pop("seconds") >= 0
    out, err = capsys.readouterr()
    assert out.splitlines()[:4] == [
        "parity  up to  unions  full area  candidates  solved  impossible  unknown",
        "even    8          32          3           2       1           1        0",
        "odd     8          39          3           3       0           3        0",
        "mixed   8+8        85          2           1       1           0        0",
    ]
    assert [
        line.partition(": every rigid shape there is")[0] for line in out.splitlines()[4:7]
    ] == [
        "even",
        "odd",
        "mixed",
    ]
    assert out.splitlines()[7:] == [
        "2 snowflakes; wrote out/snowflakes.json and out/snowflakes.svg"
    ]
    assert [line for line in err.splitlines() if "% of " not in line] == []
    assert made("ring.toml", "-q") == timed
    assert capsys.readouterr() == ("", "")
    assert made("ring.toml", "--json") == timed
    out, err = capsys.readouterr()
    assert json.loads(out) == timed
    assert "2 snowflakes; wrote" in err


def test_the_usual_places(here: Path) -> None:
    assert main(["snowflakes", "dots.toml", "--workers", "1", "-q"]) == 0
    assert names("output/dots") == ["runs", "snowflakes.json", "snowflakes.svg"]
    (run,) = Path("output/dots/runs").iterdir()
    assert names(run) == [CHECKPOINT_NAME]


def test_the_command_makes_the_same_again(here: Path) -> None:
    catalog = made(*SEVEN, "--parity", "even", "--count-budget", "9", "--budget", "8", "--flips")
    said = catalog["made"]["command"]
    assert said == (
        "fabkit snowflakes fridgeiq --parity even --flips --pieces S,Q,D,J,B,N,Y "
        "--max-half-width 3 --count-budget 9 --budget 8"
    )
    assert made(*said.split()[2:], folder="again") == catalog


# --- runs ------------------------------------------------------------------------------------------


def test_a_second_run_goes_on(seven: Path, here: Path, capsys: Capture) -> None:
    shutil.copytree(seven, "out")
    first = files()
    capsys.readouterr()
    Path("out/snowflakes.json").unlink()
    made(*SEVEN)
    (run,) = Path("out/runs").iterdir()
    assert capsys.readouterr().out.splitlines()[0] == (
        f"going on with the run in {run}: 17 tasks done already"
    )
    assert files() == first


def test_workers_make_no_difference(here: Path) -> None:
    made("hooks.toml", folder="one")
    made("hooks.toml", "--workers", "2", folder="two")
    assert files("one") == files("two")


@pytest.mark.integration
def test_resume(here: Path, capsys: Capture) -> None:
    made("hooks.toml", "--resume", "kept")
    assert names("kept") == [CHECKPOINT_NAME]
    assert not Path("out/runs").exists()
    before, checkpoint = files(), Path("kept", CHECKPOINT_NAME).read_bytes()
    capsys.readouterr()
    for other in (
        ["--parity", "odd"],
        ["--no-flips"],
        ["--budget", "9"],
        ["--max-half-width", "2"],
    ):
        arguments = ["hooks.toml", *other, "--resume", "kept", "-o", "other", "--workers", "1"]
        assert main(["snowflakes", *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "is the checkpoint of another problem: found " in err
        assert err.count("\n") == 1
        assert Path("kept", CHECKPOINT_NAME).read_bytes() == checkpoint
    assert not Path("other").exists()
    made("hooks.toml", "--resume", "kept")
    assert "done already" in capsys.readouterr().out
    assert files() == before


# --- proofs ----------------------------------------------------------------------------------------


def of_text(one: dict[str, Any]) -> str:
    text = json.dumps(one, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def combined(hashes: list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def test_proofs(here: Path, capsys: Capture) -> None:
    catalog = made(*SEVEN, "--proof", "proofs")
    named = [f"proofs/{part['parity']}.json" for part in catalog["complete"]]
    assert capsys.readouterr().out.splitlines()[-3:] == [f"wrote {name}" for name in named]
    assert names("proofs") == sorted(Path(name).name for name in named)
    for part, name in zip(catalog["complete"], named, strict=True):
        document = json.loads(Path(name).read_text())
        assert part["impossible"] == (
            {"search": len(document["shapes"])} if document["shapes"] else {}
        )
        assert part["certificates_sha256"] == combined(list(map(of_text, document["shapes"])))
        assert {piece["id"] for piece in document["pieces"]} == set("BDJNQSY")
        assert main(["certify", name]) == 0
        assert document["flips"] is False


@pytest.fixture
def by_sat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search gives up at once."""
    monkeypatch.setattr(search, "FIRST_NODES", 1)
    monkeypatch.setattr(search, "_long_search", lambda *_: Attempt(OPEN, 1))


def clauses_of(path: Path) -> list[tuple[int, ...]]:
    lines = [line for line in path.read_text().splitlines() if line[:1] not in ("c", "p", "")]
    return [tuple(map(int, line.split()[:-1])) for line in lines]


def test_what_sat_decides(by_sat: None, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = made("ring.toml", "--parity", "even", "--proof", "proofs")
    assert catalog_faults(catalog, "ring.toml") == []
    for part in catalog["complete"]:
        name = part["parity"]
        said = json.loads(Path(f"proofs/{name}.json").read_text())["shapes"]
        hashes = []
        formulas = sorted(Path("proofs").glob(f"{name}-*.cnf"))
        for path in formulas:
            drat = path.with_suffix(".drat")
            assert refutes(drat.read_text(), clauses_of(path))
            hashes.append(of_text({"cnf": path.read_text(), "drat": drat.read_text()}))
            assert path.stem == f"{name}-{hashes[-1][:12]}"
        engines = {"sat": len(formulas), "search": len(said)}
        assert part["impossible"] == {key: count for key, count in engines.items() if count}
        assert part["certificates_sha256"] == combined(map(of_text, said))
        assert part.get("refutations_sha256") == (combined(hashes) if hashes else None)
    assert list(Path("proofs").glob("*.drat"))
    monkeypatch.undo()
    monkeypatch.chdir(here)
    usual = made("ring.toml", "--parity", "even", folder="usual")
    assert ids(usual) == ids(catalog)


def test_what_stays_unknown(
    seven: Path, here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = catalog_in(seven)
    monkeypatch.setattr(search, "FIRST_NODES", 1)
    catalog = made(*SEVEN, "--budget", "0", code=1)
    assert catalog_faults(catalog, "fridgeiq") == []
    count = len(catalog["unknown"])
    assert count > 0
    assert set(ids(usual)) <= {*ids(catalog), *(one["id"] for one in catalog["unknown"])}
    err = capsys.readouterr().err
    assert f"note: {count} shapes could not be decided; see unknown in snowflakes.json\n" in err
    for part in catalog["complete"]:
        ending = f"; but for the {part['unknown']} candidates that are listed as unknown"
        assert part["argument"].endswith(ending) == (part["unknown"] > 0)
