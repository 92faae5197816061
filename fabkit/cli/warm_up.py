"""`fabkit warm-up`: kernels are compiled before they are needed."""

from __future__ import annotations

import os
from importlib import import_module

from fabkit.cli.context import Command
from fabkit.core.errors import ExternalError, pluralize
from fabkit.core.progress import counted

#: The modules with kernels.
MODULES = (
    "fabkit.solve.engines.bitmask",
    "fabkit.solve.engines.mrv",
    "fabkit.solve.engines.frontier",
    "fabkit.puzzles.snowflakes.closure",
    "fabkit.puzzles.snowflakes.tiler",
    "fabkit.printing.dual_simplex",
)


class WarmUp(Command):
    """Compile the solver's kernels, so that the first commands need not wait for them.

    Run it once after `pip install`; `scripts/fabkit` does so during its set-up. A second run
    compiles only what has changed.
    """

    def run(self) -> None:
        for module in MODULES:
            import_module(module)
        from fabkit.core.kernels import KERNELS

        report = self.report
        with report.progress() as progress:
            for index, kernel in enumerate(KERNELS):
                counted(progress, index, len(KERNELS), "kernels")
                kernel.compile(kernel.types)
        if not all(kernel.is_kept for kernel in KERNELS):
            raise ExternalError(
                "compiled kernels cannot be kept, so every command compiles its own: neither "
                "fabkit's folder nor the user's cache folder is writable, or the disk is full"
            )
        folder = os.path.commonpath([kernel.folder for kernel in KERNELS])
        compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)
        if compiled:
            report.info(f"Compiled {pluralize(compiled, 'kernel')} to {folder} {self.elapsed}")
        else:
            report.info(f"Already up to date: {pluralize(len(KERNELS), 'kernel')} in {folder}")
        report.document(kernels=len(KERNELS), compiled=compiled, folder=folder)
