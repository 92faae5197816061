"""The scripts that set up environments, with stand-ins for what takes minutes."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


def is_ready(venv: Path, extras: str) -> bool:
    """Whether a command that needs these extras would start at once."""
    command = f'source scripts/venv.sh; is_ready "{venv}" constraints.txt "{extras}"'
    return subprocess.run(["bash", "-uc", command], cwd=ROOT, check=False).returncode == 0


def installed(folder: Path, extras: str) -> Path:
    """An environment that looks as after an installation."""
    venv = folder / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").touch(mode=0o755)
    stamp = f"{venv}\n".encode()
    stamp += b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "constraints.txt"))
    (venv / f".installed{extras}").write_bytes(stamp)
    return venv


def test_an_environment_for_tests_serves_commands_but_not_the_other_way_round(
    tmp_path: Path,
) -> None:
    assert is_ready(installed(tmp_path / "tests", "[dev]"), "[studio]")
    assert is_ready(installed(tmp_path / "studio", "[studio]"), "[studio]")
    assert not is_ready(installed(tmp_path / "more", "[studio]"), "[dev]")
    assert not is_ready(tmp_path / "none", "[studio]")


def test_a_changed_requirement_and_a_moved_environment_are_not_ready(tmp_path: Path) -> None:
    venv = installed(tmp_path, "[dev]")
    (venv / ".installed[dev]").write_bytes(b"older")
    assert not is_ready(venv, "[studio]")
    moved = installed(tmp_path / "old", "[studio]").rename(tmp_path / "new")
    assert not is_ready(moved, "[studio]")


def test_the_scripts_install_what_their_commands_need() -> None:
    assert 'ensure_venv .venv constraints.txt "[studio]"' in (ROOT / "scripts/fabkit").read_text()
    assert 'ensure_venv .venv constraints.txt "[dev]"' in (ROOT / "scripts/test").read_text()


def test_every_library_is_tried_at_its_oldest() -> None:
    """Where each is, `scripts/lowest` lists beside tests; what is listed exists and is needed."""
    script = (ROOT / "scripts/lowest").read_text()
    lines = script.partition('listed="\n')[2].partition('"\n')[0].splitlines()
    listed = {path: libraries for path, *libraries in map(str.split, lines)}
    assert [path for path in listed if not (ROOT / path.partition("::")[0]).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [
        *project["dependencies"],
        *(text for name in extras.keys() - {"dev", "test"} for text in extras[name]),
    ]
    names = {re.split(r"[^\w.-]", text)[0] for text in needed}
    assert {name for libraries in listed.values() for name in libraries} == names
    pinned = (ROOT / "constraints-lowest.txt").read_text()
    assert names <= {*re.findall(r"^([\w.-]+)==", pinned, re.MULTILINE)}
