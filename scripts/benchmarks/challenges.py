"""What making challenges costs: 120 of each set, as whole processes, with both proofs of each.

It also counts the levels, which tells whether a change of the search has changed what is found.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COUNT = 120
#: What the project promises, in seconds on two cores; the others have no limit.
LIMITS_S = {"iqfit": 60.0, "iqstars": 60.0}
SETS = (*LIMITS_S, "iqblock", "cubimagici", "fridgeiq")


def main() -> int:
    print(f"fabkit challenges SET --count {COUNT}, whole processes")
    print("              seconds   limit   challenges of each level")
    slow = False
    with tempfile.TemporaryDirectory() as folder:
        for name in SETS:
            command = [sys.executable, "-m", "fabkit", "challenges", name, "--count", str(COUNT)]
            begin = time.perf_counter()
            # Fewer than asked for, exit code 1, are what some sets have.
            done = subprocess.run([*command, "-q"], cwd=folder, check=False)
            took_s = time.perf_counter() - begin
            if done.returncode > 1:
                return done.returncode
            text = (Path(folder) / "output" / name / "challenges.json").read_text(encoding="utf-8")
            levels = ", ".join(f"{n} {level}" for level, n in json.loads(text)["levels"].items())
            limit_s = LIMITS_S.get(name)
            slow |= limit_s is not None and took_s > limit_s
            limit = f"{limit_s:7.0f}" if limit_s else "      -"
            print(f"  {name:11}{took_s:8.1f} {limit}   {levels}", flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
