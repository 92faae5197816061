"""Mutation testing: apply each fault of mutants.toml to a copy of the checkout and run the tests."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
#: Share of faults that the default run must find.
LEAST_SHARE = 0.9
#: Time limit of a run; a run that hangs counts as a failure.
LIMIT_S = 1200.0


def copy_checkout(to: Path) -> None:
    """Copy the files tracked by git, in their current state."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def plant(copy: Path, mutant: dict[str, str]) -> None:
    """Write the fault into the copy.

    Raises:
        SystemExit: if the text to replace is not found exactly once, because the code has changed.
    """
    path = copy / mutant["file"]
    text = path.read_text(encoding="utf-8")
    if text.count(mutant["old"]) != 1:
        found = text.count(mutant["old"])
        raise SystemExit(f"mutants: {mutant['file']} holds {found} of {mutant['old']!r}, not one")
    path.write_text(text.replace(mutant["old"], mutant["new"]), encoding="utf-8")


def fails(copy: Path, *arguments: str) -> str:
    """Return the first test that fails, or why the run ended; empty if all pass."""
    environment = os.environ | {
        "PYTHONPATH": str(copy),
        "FABKIT_TEST_STORE": str(ROOT / ".pytest_cache" / "built"),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it hangs"
    if done.returncode == 0:
        return ""
    named = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return named[0].split(" - ")[0].partition(" ")[2] if named else "the run ends at once"


def main() -> int:
    """Apply the faults and print which are found.

    Returns:
        1 if the default run finds too few, or a requested run misses one.
    """
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="numbers of faults (default: all)")
    parser.add_argument("--integration", action="store_true", help="also run the integration tests")
    wanted = parser.parse_args()
    mutants = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutant"]
    numbers = wanted.numbers or range(1, len(mutants) + 1)
    by_default, missed = 0, 0
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        copy_checkout(copy)
        for number in numbers:
            mutant = mutants[number - 1]
            kept = (copy / mutant["file"]).read_bytes()
            plant(copy, mutant)
            begin = time.monotonic()
            folder = Path("tests") / Path(mutant["file"]).parts[1]
            by, run = "", "default"
            if (copy / folder).is_dir():  # first the tests of its own package
                by = fails(copy, str(folder))
            by = by or fails(copy)
            if not by and wanted.integration:
                run, by = "integration", fails(copy, "--integration", "-m", "integration")
            by_default += bool(by) and run == "default"
            missed += not by
            took = f"{time.monotonic() - begin:4.0f} s"
            found = f"{run}: {by}" if by else "NOT FOUND"
            print(f"{number:3} {took}  {mutant['what']}\n           {found}", flush=True)
            (copy / mutant["file"]).write_bytes(kept)
    print(f"{by_default} of {len(numbers)} found by the default run, {missed} by none")
    few = by_default < LEAST_SHARE * len(numbers)
    return int(few or (wanted.integration and missed > 0))


if __name__ == "__main__":
    sys.exit(main())
