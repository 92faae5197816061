"""`fabkit snowflakes` as people and scripts meet it; what it lists is checked without its code."""

from __future__ import annotations

import hashlib
import importlib
import json
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import shapely

from fabkit.cli import main
from fabkit.core.staging import folder_lock
from fabkit.jobs.checkpoint import CHECKPOINT_NAME
from fabkit.puzzles.snowflakes import search
from fabkit.puzzles.snowflakes.tiler import OPEN, Attempt
from tests.conftest import ROOT
from tests.support.drat import refutes
from tests.support.snowflakes import catalog_faults, drawn, even_odd, together

Capture = pytest.CaptureFixture[str]
Catalog = dict[str, Any]
#: The square of the box's challenge square_02, and another shape, among some that are impossible.
SEVEN = ["fridgeiq", "--pieces", "BDJNQSY", "--max-half-width", "3"]

HEAD = '[set]\nname = "{}"\nlattice = "{}"\nmoves = "{}"\n'
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
    "two": ("rotations", ["[[0, 0], [0, 1]]"]),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, (moves, pieces) in SETS.items():
        drawn = "".join(PIECE.format(chr(65 + at), cells) for at, cells in enumerate(pieces))
        Path(f"{name}.toml").write_text(HEAD.format(name, "square", moves) + drawn)
    return tmp_path


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run and the catalog of `SEVEN`; to be copied by those that change it."""
    folder = tmp_path_factory.mktemp("seven") / "out"
    made(*SEVEN, folder=str(folder))
    return folder


def catalog_in(folder: Path | str) -> Catalog:
    catalog: Catalog = json.loads(Path(folder, "snowflakes.json").read_text())
    return catalog


def made(*arguments: str, code: int = 0, folder: str = "out") -> Catalog:
    """The catalog that a command wrote."""
    usual = [] if "--workers" in arguments else ["--workers", "1"]
    assert main(["snowflakes", *arguments, "-o", folder, *usual]) == code
    return catalog_in(folder)


def files(folder: str = "out") -> list[bytes]:
    return [Path(folder, f"snowflakes.{kind}").read_bytes() for kind in ("json", "svg")]


def names(folder: Path | str) -> list[str]:
    """What is in a folder, but for the lock."""
    return sorted(path.name for path in Path(folder).iterdir() if path.name[0] != ".")


def ids(catalog: Catalog) -> list[str]:
    return [one["id"] for one in catalog["challenges"]]


# --- what it finds
# ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["ring.toml"], {"even": 1, "mixed": 1}),
        (["dots.toml", "--wandering", "--max-half-width", "3"], {"odd": 6, "mixed": 2}),
        (["skew.toml"], {}),
        *(
            pytest.param(*one, marks=pytest.mark.integration)
            for one in (
                (["fridgeiq", "--pieces", "IJMR", "--flips"], {"odd": 1}),
                (["hooks.toml"], {"even": 2, "odd": 1}),
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


def _swap_shape(solution: dict[str, Any]) -> None:
    solution["D"] = solution["N"]


#: What is done to an entry of a catalog, and what is then reported of it.
SPOILT: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda one: one["result"]["solution"].popitem(), "the pieces do not make the shape"),
    (lambda one: _swap_shape(one["result"]["solution"]), "D is not as drawn"),
    (lambda one: _swap_shape(one["result"]["solution"]), "overlaps"),
    (lambda one: one["frame"].pop(), "is not symmetric"),
    (lambda one: one.update(half_width=3), "has another half-width"),
    (lambda one: one.update(parity="odd"), "is not symmetric"),
    (lambda one: one["result"].update(rigid=False), "does not fall apart"),
]


def test_what_is_listed_of_seven_is_right(seven: Path) -> None:
    catalog = catalog_in(seven)
    assert catalog_faults(catalog, "fridgeiq") == []
    assert [part["solved"] for part in catalog["complete"]] == [1, 1, 0]
    for spoil, expected in SPOILT:  # what judges catalogs notices what is wrong
        catalog = catalog_in(seven)
        spoil(catalog["challenges"][0])
        assert any(expected in fault for fault in catalog_faults(catalog, "fridgeiq")), expected


def test_flips_find_more(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the merged catalog, shapes that need no flip are listed as in the catalog without
    flips."""
    turned, flipped = made("ells.toml", "--no-flips", code=1), made("ells.toml", "--parity", "odd")
    assert turned["made"]["command"] == "fabkit snowflakes ells.toml --no-flips"
    assert ids(turned) == []
    assert len(ids(flipped)) == 3
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    merge_catalogs = importlib.import_module("merged_catalog").merge_catalogs
    both = merge_catalogs(turned, flipped, "fabkit")
    assert catalog_faults(both, "ells.toml") == []
    assert {one["flips"] for one in both["challenges"]} == {True}
    plain = {**flipped, "challenges": [one | {"flips": False} for one in flipped["challenges"]]}
    assert merge_catalogs(plain, flipped, "fabkit")["challenges"] == plain["challenges"]


def test_no_farther_than_asked(here: Path) -> None:
    whole = made("hooks.toml", "--parity", "even")
    for half_width in (0, 2, 40):
        near = [one for one in whole["challenges"] if one["half_width"] <= half_width]
        asked = ["--parity", "even", "--max-half-width", str(half_width)]
        few = made("hooks.toml", *asked, code=0 if near else 1)
        assert few["challenges"] == near
        ((part,), (all_of_it,)) = few["complete"], whole["complete"]
        is_whole = part["half_width_max"] == all_of_it["half_width_max"]
        assert is_whole == (half_width == 40)
        assert part["argument"].startswith("every rigid shape there is on ") == is_whole


def test_counts(seven: Path, here: Path, capsys: Capture) -> None:
    """The first one is a challenge on the box, which another engine counts."""
    counted, not_counted = catalog_in(seven), made(*SEVEN, "--count-budget", "0")
    for one, other in zip(counted["challenges"], not_counted["challenges"], strict=True):
        counts, other_counts = one["result"], other["result"]
        assert counts["count_complete"]
        assert (other_counts["count"], other_counts["count_complete"]) == (1, False)
        assert counts["solution"] == other_counts["solution"]
    square = drawn(counted["challenges"][0], "fridgeiq")
    assert together(map(even_odd, square["outlines"])).equals(shapely.box(-2, -2, 2, 2))
    capsys.readouterr()
    assert main(["solve", "fridgeiq", "square_02", "--count", "--engine", "sat", "--json"]) == 0
    assert (
        counted["challenges"][0]["result"]["count"] == json.loads(capsys.readouterr().out)["count"]
    )


# --- files and output
# ------------------------------------------------------------------------------


def test_what_it_says(here: Path, capsys: Capture) -> None:
    timed = made("ring.toml", "-v", "--timed")
    assert timed["made"].pop("seconds") >= 0
    out, err = capsys.readouterr()
    assert [line.partition(": every rigid shape there is")[0] for line in out.splitlines()] == [
        "parity  up to  unions  full area  candidates  solved  impossible  unknown",
        "even    8          32          3           2       1           1        0",
        "odd     8          39          3           3       0           3        0",
        "mixed   8+8        85          2           1       1           0        0",
        "even",
        "odd",
        "mixed",
        "Wrote out/snowflakes.json and out/snowflakes.svg: 2 snowflakes",
    ]
    assert [line for line in err.splitlines() if "% of " not in line] == []
    assert made("ring.toml", "-q") == timed
    assert capsys.readouterr() == ("", "")
    assert made("ring.toml", "--json") == timed
    out, err = capsys.readouterr()
    assert json.loads(out) == timed
    assert ": 2 snowflakes\n" in err


def test_the_command_makes_the_same_again(here: Path) -> None:
    catalog = made(*SEVEN, "--parity", "even", "--count-budget", "9", "--budget", "8", "--flips")
    command = catalog["made"]["command"]
    assert command == (
        "fabkit snowflakes fridgeiq --parity even --flips --pieces S,Q,D,J,B,N,Y "
        "--max-half-width 3 --count-budget 9 --budget 8"
    )
    assert made(*command.split()[2:], folder="again") == catalog


# --- runs
# ------------------------------------------------------------------------------------------


def test_a_second_run_goes_on_and_workers_make_no_difference(
    seven: Path, here: Path, capsys: Capture
) -> None:
    shutil.copytree(seven, "out")
    assert names("out") == ["runs", "snowflakes.json", "snowflakes.svg"]
    first, (run,) = files(), Path("out/runs").iterdir()
    assert names(run) == [CHECKPOINT_NAME]
    capsys.readouterr()
    Path("out/snowflakes.json").unlink()
    made(*SEVEN)
    assert capsys.readouterr().out.splitlines()[0] == (f"Resuming the run in {run}: 17 tasks done")
    assert files() == first
    made("dots.toml", "--resume", "kept", folder="one")
    assert names("one") == ["snowflakes.json", "snowflakes.svg"]
    made("dots.toml", "--workers", "2", folder="two")
    assert files("one") == files("two")


def test_checkpoints_of_another_question(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    made("dots.toml", "--resume", "kept")
    capsys.readouterr()

    def refused(key: str, *arguments: str) -> str:
        assert main(["snowflakes", *arguments, "--resume", "kept", "-o", "other"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(
            f"fabkit: kept/checkpoint.sqlite: {key}: belongs to a different problem: found "
        )
        return err

    assert refused("set", "ring.toml").endswith(
        'found "dots", expected "ring"; choose another folder\n'
    )
    refused("parities", "dots.toml", "--parity", "odd")
    refused("flips", "dots.toml", "--flips")
    refused("budget_s", "dots.toml", "--budget", "9")
    refused("max_half_width", "dots.toml", "--max-half-width", "2")
    dots = Path("dots.toml").read_text()
    Path("dots.toml").write_text(dots.replace('"square"', '"quarter-square"'))
    refused("pieces_sha256", "dots.toml")
    Path("dots.toml").write_text(dots)
    monkeypatch.setattr("fabkit.puzzles.snowflakes.query.ALGORITHM", 99)
    refused("algorithm", "dots.toml")


# --- what it refuses, or cannot write
# ---------------------------------------------------------------


#: Of sets that are not shipped; the rest is in tests/bad.
REFUSED = {
    "half.toml": "piece A: has a corner at (0.5, 0.5); snowflakes need pieces whose corners "
    "are whole numbers",
    "iqstars": "iqstars: uses the hexagon lattice; snowflakes need a lattice of squares",
    "dots.toml --proof two.toml": '--proof: "two.toml" is a file; expected a folder',
}


def test_refused(here: Path, capsys: Capture) -> None:
    quarter = '\n[[piece]]\nid = "{}"\noutline = [[0, 0], [1, 0], [0.5, 0.5]]\n'
    half = HEAD.format("half", "quarter-square", "rotations")
    Path("half.toml").write_text(half + "".join(map(quarter.format, "ABCD")))
    for arguments, message in REFUSED.items():
        assert main(["snowflakes", *arguments.split(), "--workers", "1"]) == 2
        assert capsys.readouterr() == ("", f"fabkit: {message}\n")


def test_a_folder_that_is_in_use_or_on_a_full_disk(here: Path, capsys: Capture) -> None:
    """The older catalog stays, and the search need not be done again."""
    made("dots.toml", "--parity", "odd")
    first = files()
    made("dots.toml", "--resume", "kept", folder="other")
    again = ["snowflakes", "dots.toml", "--resume", "kept", "-o", "out"]
    with folder_lock(Path("out")):
        assert main(again) == 3
    assert capsys.readouterr().err.endswith(
        "fabkit: another fabkit process is using out; wait for it, or choose another folder with "
        "-o\n"
    )
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(files("other")[1]) - 1, before[1]))
    try:
        assert main(again) == 3
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert capsys.readouterr().err.splitlines()[-1].startswith("fabkit: cannot write ")
    assert files() == first
    assert not list(Path("out").glob("*.part"))
    assert main(again) == 0
    assert files() == files("other")


# --- proofs
# ----------------------------------------------------------------------------------------


def of_text(one: dict[str, Any]) -> str:
    text = json.dumps(one, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def combined(hashes: list[str]) -> str:
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def test_proofs(here: Path, capsys: Capture) -> None:
    catalog = made(*SEVEN, "--proof", "proofs")
    named = [f"proofs/{part['parity']}.json" for part in catalog["complete"]]
    assert capsys.readouterr().out.splitlines()[-3:] == [f"Wrote {name}" for name in named]
    for part, name in zip(catalog["complete"], named, strict=True):
        document = json.loads(Path(name).read_text())
        shapes = document["shapes"]
        assert part["impossible"] == ({"search": len(shapes)} if shapes else {})
        assert part["certificates_sha256"] == combined(list(map(of_text, shapes)))
        assert {piece["id"] for piece in document["pieces"]} == set("BDJNQSY")
        assert main(["certify", name]) == 0


def clauses_of(path: Path) -> list[tuple[int, ...]]:
    lines = [line for line in path.read_text().splitlines() if line[:1] not in ("c", "p", "")]
    return [tuple(map(int, line.split()[:-1])) for line in lines]


def test_what_sat_decides(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every search gives up at once."""
    monkeypatch.setattr(search, "FIRST_NODES", 1)
    monkeypatch.setattr(search, "_long_search", lambda *_: Attempt(OPEN, 1))
    catalog = made("ring.toml", "--parity", "even", "--proof", "proofs")
    assert catalog_faults(catalog, "ring.toml") == []
    assert len(ids(catalog)) == 1
    (part,), (cnf,) = catalog["complete"], Path("proofs").glob("even-*.cnf")
    drat = cnf.with_suffix(".drat")
    assert refutes(drat.read_text(), clauses_of(cnf))
    hashed = of_text({"cnf": cnf.read_text(), "drat": drat.read_text()})
    assert cnf.stem == f"even-{hashed[:12]}"
    assert part["impossible"] == {"sat": 1}
    assert part["certificates_sha256"] == combined([])
    assert part["refutations_sha256"] == combined([hashed])


def test_what_stays_unknown(
    seven: Path, here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "FIRST_NODES", 1)
    catalog = made(*SEVEN, "--budget", "0", code=1)
    assert catalog_faults(catalog, "fridgeiq") == []
    unknown = [one["id"] for one in catalog["unknown"]]
    assert set(ids(catalog_in(seven))) <= {*ids(catalog), *unknown}
    warning = f"warning: {len(unknown)} shapes undecided; see unknown in snowflakes.json\n"
    assert warning in capsys.readouterr().err
    for part in catalog["complete"]:
        ending = f"; but for the {part['unknown']} candidates that are listed as unknown"
        assert part["argument"].endswith(ending) == (part["unknown"] > 0)
