"""Mutation testing: plant faults one at a time in copies of the checkout, and run the tests.

The faults are those listed in mutants.toml or, with --random, drawn by a seed: one place in one
function changed as mutmut and Cosmic Ray change it (a comparison, an operator, a constant, a
condition, a return value, a call left out). The same seed draws the same faults from the same code.
What came of a fault is kept, so that a run that was stopped goes on where it was.

First run the tests that execute the line, as a run without faults has shown; then the others of the
package, then all. Some drawn faults change nothing that could be seen: look at those that no test
catches.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path

from mutation.baseline import read_baseline
from mutation.draw import PACKAGES, draw
from mutation.mutant import Mutant, read_listed
from mutation.runs import ROOT, copy_checkout
from mutation.trial import DEFAULT, INTEGRATION, Trial, Trials

LIST = Path(__file__).with_suffix(".toml")
#: Share of faults that the default run must find.
LEAST_SHARE = 0.9
#: How many faults are tried side by side.
_JOBS = 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("numbers", nargs="*", type=int, help="numbers of faults (default: all)")
    parser.add_argument("--random", type=int, metavar="N", help="draw N faults, not those listed")
    parser.add_argument("--seed", type=int, default=1, help="which faults are drawn (default: 1)")
    parser.add_argument(
        "--packages",
        nargs="+",
        choices=PACKAGES,
        default=PACKAGES,
        metavar="PACKAGE",
        help=f"where faults are drawn: {', '.join(PACKAGES)} (default: in all of these)",
    )
    parser.add_argument("--integration", action="store_true", help="also run the integration tests")
    parser.add_argument(
        "--brief",
        action="store_true",
        help="of the default tests, run only those that execute the line and those of the package",
    )
    parser.add_argument(
        "--tests",
        type=Path,
        default=ROOT,
        metavar="CHECKOUT",
        help="take the folder `tests` of another checkout, to compare two versions of the tests; "
        "tests that fail with this code even without a fault do not count, so the code of the two "
        "should differ little (examples in docstrings stay those of this checkout)",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="also write the results to a file"
    )
    parser.add_argument("--list", action="store_true", help="only print the faults")
    return parser


def _chosen(arguments: argparse.Namespace) -> dict[int, Mutant]:
    """Return the faults to try by their number."""
    if arguments.random is None:
        mutants: Iterable[Mutant] = read_listed(LIST, ROOT)
    else:
        mutants = draw(ROOT, arguments.random, arguments.seed, arguments.packages)
    numbered = dict(enumerate(mutants, start=1))
    unknown = [number for number in arguments.numbers if number not in numbered]
    if unknown:
        raise SystemExit(f"mutants: there is no fault {unknown[0]}, only 1 to {len(numbered)}")
    return {number: numbered[number] for number in arguments.numbers or numbered}


def _describe(number: int, mutant: Mutant, took: str = "") -> str:
    new = mutant.new.strip().split("\n")[0] or "nothing"
    lines = [f"{number:3} {took}{mutant.what}", f"{mutant.file}:{mutant.line}: {new}"]
    return "\n           ".join(lines)


def _print_trial(number: int, trial: Trial) -> None:
    caught = f"{trial.tier}: {trial.test}" if trial.test else "NOT CAUGHT"
    described = _describe(number, trial.mutant, f"{trial.took_s:4.0f} s  ")
    print(f"{described}\n           {caught}", flush=True)


def _try_all(mutants: dict[int, Mutant], arguments: argparse.Namespace) -> dict[int, Trial]:
    """Try the faults side by side and print what catches each."""
    results: dict[int, Trial] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        template = Path(name)
        template.chmod(0o755)  # some tests run as another user
        copy_checkout(template, arguments.tests)
        warm_up = [sys.executable, "-m", "fabkit", "warm-up"]
        subprocess.run(warm_up, cwd=template, check=True, stdout=subprocess.DEVNULL)
        baseline = read_baseline(template)
        for test in sorted(baseline.failed):
            print(f"mutants: fails without a fault, and does not count: {test}")
        trials = Trials(template, baseline, arguments.brief, arguments.integration)
        with ThreadPoolExecutor(_JOBS) as pool:
            number_of = {pool.submit(trials.of, mutant): key for key, mutant in mutants.items()}
            for future in as_completed(number_of):
                number = number_of[future]
                results[number] = future.result()
                _print_trial(number, results[number])
    return dict(sorted(results.items()))


def _write(path: Path, results: dict[int, Trial]) -> None:
    documents = []
    for number, trial in results.items():
        fault = asdict(trial.mutant)
        caught = {"tier": trial.tier or None, "test": trial.test or None}
        documents.append({"number": number, **fault, **caught, "seconds": round(trial.took_s, 1)})
    path.write_text(json.dumps(documents, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _summary(results: Iterable[Trial]) -> str:
    tiers = [trial.tier for trial in results]
    counts = [f"{tiers.count(tier)} by {tier} tests" for tier in (DEFAULT, INTEGRATION)]
    caught = len(tiers) - tiers.count("")
    return f"{caught} of {len(tiers)} caught: {', '.join(counts)}"


def main() -> int:
    """Try the faults and print what catches them.

    Returns:
        1 if fewer than 90 % are caught, of the listed ones by the default tests; or if the tests of
        integration were asked for and miss a listed one, of which each is known to be caught.
    """
    arguments = _parser().parse_args()
    mutants = _chosen(arguments)
    if arguments.list:
        print("\n".join(_describe(number, mutant) for number, mutant in mutants.items()))
        return 0
    results = _try_all(mutants, arguments)
    if arguments.json:
        _write(arguments.json, results)
    print(_summary(results.values()))
    tiers = [trial.tier for trial in results.values()]
    if arguments.random is not None:
        return int(len(tiers) - tiers.count("") < LEAST_SHARE * len(tiers))
    few = tiers.count(DEFAULT) < LEAST_SHARE * len(tiers)
    return int(few or (arguments.integration and "" in tiers))


if __name__ == "__main__":
    sys.exit(main())
