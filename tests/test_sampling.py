"""Which tests run: `every(n)` and ``--one-in`` leave out, and the options bring back."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TESTS = """
import pytest

@pytest.mark.every(3)
@pytest.mark.parametrize("n", [*range(7), pytest.param(7, marks=pytest.mark.slow),
    pytest.param(8, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.long)])
def test_a(n):
    print("ran", n)

@pytest.mark.parametrize("n", [10, 11])
def test_b(n):
    print("ran", n)
"""


@pytest.mark.parametrize(
    ("options", "ran"),
    [
        ([], [0, 3, 6, 10, 11]),
        (["--slow"], [*range(8), 10, 11]),
        (["--slow", "--long"], [*range(12)]),
        (["--one-in", "2"], [0, 6, 11]),
    ],
    ids=lambda value: " ".join(map(str, value)) or "plain",
)
def test_which_run(options: list[str], ran: list[int], tmp_path: Path) -> None:
    (tmp_path / "test_few.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    usual = ["-s", "-p", "tests.conftest", "-p", "no:cacheprovider", "-W", "ignore"]
    done = subprocess.run(  # noqa: PLW1510 - the return code is looked at below
        [
            sys.executable,
            "-m",
            "pytest",
            *usual,
            *options,
            "--rootdir",
            str(tmp_path),
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stdout
    assert [int(one) for one in re.findall(r"ran (\d+)", done.stdout)] == ran
