"""Thousands of damaged mesh files are each read, or refused with one message.

They are read in a process of its own with little memory, so that even a crash is told by the
seed at which it came: ``tests.support.meshfuzz.damaged(NAME, SEED)`` makes the file again.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.meshfuzz import SEEDS, damaged, outcome


def outcomes(name: str, first: int, last: int, folder: Path) -> Counter[str]:
    command = [sys.executable, "-W", "error", "-m", "tests.support.meshfuzz"]
    result = subprocess.run(
        [*command, name, str(first), str(last), str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = result.stdout.splitlines()
    told = f"{name}: code {result.returncode} at seed {lines[-1:]}\n{result.stderr[-2000:]}"
    assert result.returncode == 0, told
    assert not result.stderr, told
    assert len(lines) == last - first, told
    return Counter(line.split()[1] for line in lines)


@pytest.mark.integration
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    found = outcomes(name, 0, 600, tmp_path)
    assert found["refused"] > 100, found
    assert found["read"] > 20, found


@pytest.mark.parametrize("name", SEEDS)
def test_some_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    """In this process, a few of each kind."""
    path = tmp_path / name
    found = set()
    for seed in range(40):
        path.write_bytes(damaged(name, seed))
        found.add(outcome(path))
    assert found == {"read", "refused"}


@pytest.mark.long
@pytest.mark.parametrize("name", SEEDS)
def test_many_more_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    outcomes(name, 600, 40_000, tmp_path)
