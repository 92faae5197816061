"""Damaged mesh files of every format are each read, or refused with one message.

``tests.support.meshfuzz.damaged(NAME, SEED)`` makes a file again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.meshfuzz import SEEDS, damaged, outcome

HOW_MANY = [
    40,
    pytest.param(600, marks=pytest.mark.integration),
    pytest.param(20_000, marks=pytest.mark.long),
]


@pytest.mark.parametrize("count", HOW_MANY)
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files_are_read_or_refused(
    name: str, count: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    found = set()
    for seed in range(count):
        path.write_bytes(damaged(name, seed))
        found.add(outcome(path))
    assert found == {"read", "refused"}
    assert capfd.readouterr() == ("", "")
