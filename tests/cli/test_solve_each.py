"""`fabkit solve --each`: all members of a family, or all challenges of a set, in one run."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from fabkit.cli import main
from fabkit.jobs.checkpoint import CHECKPOINT_NAME, Checkpoint
from fabkit.sets.library import load_set
from fabkit.solve.answer import solve
from fabkit.solve.encoding import to_exact_cover

Capture = pytest.CaptureFixture[str]

CALENDAR = "tests/sets/calendar.toml"
#: Two dice on a strip of five cells, which a domino and a single cell cover but for the blockers.
STRIP = """
[set]
name = "strip"
lattice = "square"
moves = "rotations"

[[board]]
id = "strip"
size = [1, 5]
labels = ["a b c d e"]

[[family]]
id = "roll"
prefix = "roll"
blocked = true
groups = ["a c c", "b d e"]

[[piece]]
id = "one"
rows = ["X"]

[[piece]]
id = "two"
rows = ["XX"]
"""


def answers(capsys: Capture, *arguments: str) -> tuple[int, dict[str, Any]]:
    return main(["solve", *arguments, "--each", "--json"]), json.loads(capsys.readouterr().out)


def test_a_small_family_is_solved_as_by_hand(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "strip.toml"
    path.write_text(STRIP)
    code, document = answers(capsys, str(path), "roll", "--count")
    counts = {row["challenge"]: row["count"] for row in document["challenges"]}
    by_hand = {}
    for first, second in product("ac", "bde"):  # c, on two faces, is one choice
        free = [cell for cell in range(5) if "abcde"[cell] not in (first, second)]
        by_hand[f"roll-{first}-{second}"] = sum(cell + 1 in free for cell in free)
    assert counts == by_hand == {
        "roll-a-b": 2, "roll-a-d": 1, "roll-a-e": 2, "roll-c-b": 1, "roll-c-d": 1, "roll-c-e": 1,
    }  # fmt: skip
    assert code == 0
    assert document["fewest"] == ["roll-a-d", 1]
    assert document["most"] == ["roll-a-b", 2]
    code, document = answers(capsys, str(path), "roll", "--unique")
    assert code == 1
    unique = [row["challenge"] for row in document["challenges"] if row["unique"]]
    assert unique == [name for name, count in by_hand.items() if count == 1]


def test_members_without_a_solution_are_named(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "strip.toml"
    longer = STRIP.replace('rows = ["XX"]', 'rows = ["XXX"]').replace("[1, 5]", "[1, 6]")
    path.write_text(longer.replace('"a b c d e"', '"a b c d e f"'))
    code, document = answers(capsys, str(path), "roll", "--first")
    assert code == 1
    assert document["impossible"] == ["roll-a-d", "roll-c-d", "roll-c-e"]
    assert main(["solve", str(path), "roll", "--each"]) == 1
    assert "without a solution: roll-a-d, roll-c-d, roll-c-e" in capsys.readouterr().out


def test_all_dates_are_counted(capsys: Capture) -> None:
    facts = json.loads(Path("tests/facts/calendar.json").read_text())
    code, document = answers(capsys, CALENDAR, "date", "--count")
    counts = {row["challenge"]: row["count"] for row in document["challenges"]}
    assert code == 0
    assert len(counts) == document["solved"] == 366
    assert {date: counts[date] for date in facts["counts"]} == facts["counts"]
    assert document["fewest"] == facts["least"]
    assert document["most"] == facts["most"]


def test_a_family_agrees_with_single_challenges() -> None:
    from fabkit.jobs.run import Pool
    from fabkit.solve.each import EachQuery, solve_each

    puzzle = load_set(CALENDAR)
    with Pool() as pool:
        counted = solve_each(EachQuery(puzzle, "date", "count"), pool)
    for answer in counted[::61]:
        member = puzzle.find_member(answer.challenge)
        assert member is not None
        assert solve(to_exact_cover(puzzle, member), "count").count == answer.count


def test_each_challenge_of_a_set(capsys: Capture) -> None:
    code, document = answers(capsys, "iqstars", "--unique")
    assert code == 1  # the whole board has 381 solutions
    assert document["unique"] == document["solved"] - 1
    assert document["challenges"][0] == {"challenge": "board", "status": "solved", "unique": False}


@pytest.mark.integration
def test_csv(capsys: Capture) -> None:
    assert main(["solve", CALENDAR, "date", "--each", "--count", "--csv"]) == 0
    output = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(output.out)))
    assert rows[24] == {"challenge": "jan-25", "status": "solved", "count": "216"}
    assert len(rows) == 366
    assert "366 of 366 challenges solved" in output.err


@pytest.mark.integration
def test_stopped_and_resumed(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["solve", CALENDAR, "date", "--each", "--count", "--csv"]
    main(command)
    whole = capsys.readouterr().out
    put = Checkpoint.put

    def stopping(checkpoint: Checkpoint, key: str, result: bytes) -> None:
        put(checkpoint, key, result)
        if len(checkpoint.keys()) == 5:
            raise KeyboardInterrupt

    resume = ["--resume", str(tmp_path / "run")]
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "put", stopping)
        assert main([*command, *resume]) == 130
    capsys.readouterr()
    assert main([*command, *resume]) == 0
    assert capsys.readouterr().out == whole
    assert main(["solve", CALENDAR, "date", "--each", *resume]) == 2
    assert "belongs to a different problem" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all"], "--each: excludes --all; ask --first, --count or --unique"),
        (["--svg", "x.svg"], "--svg: excludes --each; choose one"),
        (["month"], 'calendar: there is no family "month"; choose from date'),
    ],
)
def test_what_cannot_be_asked(arguments: list[str], message: str, capsys: Capture) -> None:
    assert main(["solve", CALENDAR, *arguments, "--each"]) == 2
    assert message in capsys.readouterr().err


def test_options_that_need_each(capsys: Capture) -> None:
    assert main(["solve", CALENDAR, "jan-1", "--csv"]) == 2
    assert "--csv: requires --each; add it" in capsys.readouterr().err


@pytest.mark.integration
def test_all_rolls_are_solvable_and_a_kill_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "fabkit", "solve", "dicesquare", "roll", "--each", "--csv"]
    whole = subprocess.run(command, capture_output=True, check=True).stdout
    assert whole.count(b",solved\n") == 62_208
    command += ["--resume", str(folder)]
    for stop in (signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 60.0
        while not (folder / CHECKPOINT_NAME).is_file() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1.5)
        process.send_signal(stop)
        _, errors = process.communicate()
        again = f"to continue, run the same command with --resume {folder}"
        assert stop == signal.SIGKILL or again in errors.decode()
    assert subprocess.run(command, capture_output=True, check=True).stdout == whole


def test_members_are_found_by_names_with_dashes_and_any_case(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "strip.toml"
    path.write_text(STRIP.replace('prefix = "roll"', 'prefix = "my-roll"\nwithout = ["a-e"]'))
    assert main(["solve", str(path), "My-Roll-A-B", "--count"]) == 0
    assert "my-roll-a-b: 2 solutions" in capsys.readouterr().out
    assert main(["solve", str(path), "my-roll-a-e"]) == 2
    assert '"my-roll-a-e", which its family roll excludes' in capsys.readouterr().err
    assert main(["solve", str(path), "roll-a-b"]) == 2
    assert "members of roll such as my-roll-a-b" in capsys.readouterr().err
