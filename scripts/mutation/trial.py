"""A trial: plant a fault in a copy, and run tests until one of them fails."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from mutation.baseline import Baseline, file_of, files_of
from mutation.mutant import Mutant, plant
from mutation.runs import Run, copied, run_tests

DEFAULT, INTEGRATION = "default", "integration"
#: A trial takes one process, and ends with the first test that fails.
_ALONE = ("-n", "0", "-x")
_OF_INTEGRATION = ("--integration", "-m", "integration")


@dataclass(frozen=True)
class Trial:
    """What came of a fault: `test` of `tier` catches it, or no test, then both are empty."""

    mutant: Mutant
    tier: str
    test: str
    took_s: float


@dataclass(frozen=True)
class Trials:
    """How faults are tried.

    Args:
        template: a copy of the checkout without faults.
        is_brief: whether the tests that execute the line, and those of the package, are enough.
        with_integration: whether the integration tests run if the default tests find nothing.
    """

    template: Path
    baseline: Baseline
    is_brief: bool = False
    with_integration: bool = False

    def of(self, mutant: Mutant) -> Trial:
        """Try a fault, or read what came of it in an earlier run with the same code and tests."""
        kind = f"{'-brief' * self.is_brief}{'-integration' * self.with_integration}"
        kept = self.baseline.folder / f"trials{kind}.jsonl"
        for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
            fields = json.loads(line)
            if Mutant(**fields.pop("mutant")) == mutant:
                return Trial(mutant, **fields)
        trial = self._try(mutant)
        with kept.open("a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps(asdict(trial))}\n")
        return trial

    def _try(self, mutant: Mutant) -> Trial:
        begin = time.monotonic()
        with copied(self.template) as copy:
            plant(copy, mutant)
            for tier, run in self._steps(copy, mutant):
                if test := run().catches:
                    return Trial(mutant, tier, test, time.monotonic() - begin)
        return Trial(mutant, "", "", time.monotonic() - begin)

    def _steps(self, copy: Path, mutant: Mutant) -> Iterator[tuple[str, Callable[[], Run]]]:
        """Yield runs, the likeliest to catch the fault first, with the tier of each."""
        chosen = self.baseline.tests_of(mutant)
        tried = {*self.baseline.failed, *chosen}
        folders = [f"{name}/{mutant.package}" for name in ("tests", "fabkit")]
        folders = [name for name in folders if (copy / name).is_dir()]
        others = [f"--ignore={name}" for name in folders]
        run = partial(run_tests, copy, *_ALONE, limits_s=self.baseline.limits_s)
        if chosen:
            yield DEFAULT, lambda: run(*files_of(chosen), only=chosen)
        if folders:
            yield DEFAULT, lambda: run(*folders, without=tried)
        if not self.is_brief:
            yield DEFAULT, lambda: run(*others, without=tried)
        if self.with_integration:
            if folders:
                yield INTEGRATION, lambda: self._run_integration(copy, *folders)
            yield INTEGRATION, lambda: self._run_integration(copy, *others)

    def _run_integration(self, copy: Path, *arguments: str) -> Run:
        """Run integration tests, on past those that also fail without the fault."""
        failed: list[str] = []
        while True:
            run = run_tests(copy, *_ALONE, *_OF_INTEGRATION, *arguments, without=failed)
            if not run.failed or not self._fails_without_fault(run.failed[0]):
                return run
            failed.append(run.failed[0])

    def _fails_without_fault(self, test: str) -> bool:
        with copied(self.template) as copy:
            return bool(
                run_tests(copy, *_ALONE, "--integration", file_of(test), only=[test]).catches
            )
