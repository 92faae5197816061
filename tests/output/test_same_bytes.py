"""Two processes write the same drawings, files to cut, pictures, booklets, pages and reports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

COMMANDS = (
    "show pair.toml -o pair.svg",
    "show iqstars -o stars.png",
    "solve cubimagici tray --svg tray.svg",
    "plate pair.toml -o plates",
    "export-3mf pair.toml -o plates",
    "export-dxf fridgeiq -o cut",
    "export-svg fridgeiq -o cut",
    "picture pair.toml -o picture.png --size 160x100",
    "booklet pair.toml -o booklet.pdf",
    "page pair.toml -o page",
    "check --set pair.toml page/files/pair.3mf -o reports",
    "page iqstars --language it --only board -o stars",
)
PROGRAM = """
import shlex, sys
from fabkit.cli import main
for line in sys.argv[1:]:
    assert main([*shlex.split(line), "-q"]) == 0, line
"""


@pytest.mark.integration
def test_two_processes_write_the_same_bytes(pair: str) -> None:
    found: list[dict[Path, bytes]] = []
    # 4 sorts a set of ezdxf's otherwise.
    for seed, zone in (("1", "UTC"), ("4", "Asia/Tokyo")):
        home = Path(seed).absolute()
        home.mkdir()
        (home / pair).write_bytes(Path(pair).read_bytes())
        settings = {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": seed, "TZ": zone}
        environment = os.environ | settings | {"PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", PROGRAM, *COMMANDS]
        subprocess.run(command, cwd=home, env=environment, check=True)
        files = (path for path in home.rglob("*") if path.is_file())
        found.append({path.relative_to(home): path.read_bytes() for path in files})
    assert {".svg", ".dxf", ".png", ".pdf", ".js", ".zip", ".html"} <= {
        path.suffix for path in found[0]
    }
    assert found[0] == found[1]
