"""The benchmarks start, and what they count is right; how fast it is, only they say."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT

CONTENDER = str(ROOT / "scripts/benchmarks/_contender.py")


def said(*arguments: str) -> list[dict[str, object]]:
    command = [sys.executable, CONTENDER, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("solver", ["fabkit", "exact-cover"])
def test_a_solver_starts(solver: str) -> None:
    (start,) = said(solver, "--start-only")
    assert set(start) == {"import", "first call"}


@pytest.mark.long
def test_our_part_of_the_benchmark_runs() -> None:
    assert len({found["case"] for found in said("fabkit")[1:]}) > 8
