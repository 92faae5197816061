"""`fabkit snowflakes`."""

from __future__ import annotations

import shlex
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fabkit.cli.context import FAILURE_EXIT, OfSet, WithOutput
from fabkit.cli.options import flag, option, some_of, whole
from fabkit.core.errors import InputError, escape, pluralize, quote
from fabkit.core.formats import json_text, read_json
from fabkit.core.hashes import digest
from fabkit.core.signals import cleanup_on_signal
from fabkit.core.staging import staged_writes
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.snowflakes import COUNT_S, DECIDE_S
from fabkit.puzzles.snowflakes.field import PARITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabkit.jobs.run import Pool
    from fabkit.puzzles.snowflakes.query import SnowflakeQuery
    from fabkit.puzzles.snowflakes.search import ParityResult

_MAX_HALF_WIDTH = 40
_MAX_WORKERS = 256
#: The catalog in the output folder.
LIST = "snowflakes.json"
#: The drawing of all snowflakes, beside it.
SHEET = "snowflakes.svg"
#: The folder of checkpoints, of which each run has one.
RUNS = "runs"


class Snowflakes(WithOutput, OfSet):
    """Find all snowflakes: shapes of all pieces with a square's symmetry.

    Exit code 1 if there are none, or if some shapes remain undecided.
    """

    parity: str | None = option(
        "--parity PARITY,...",
        "Only shapes centred on a corner of the grid (even), on the middle of a cell (odd), or "
        "with ring and centre half a unit apart (mixed).",
        read=some_of(PARITIES, "parity"),
        complete=lambda: PARITIES,
    )
    flips: bool | None = option(
        "--flips/--no-flips", "Allow or forbid turning pieces over (default: as in the set)."
    )
    piece_ids: str | None = option(
        "--pieces IDS", "Only these pieces, such as A,B,C (default: all)."
    )
    max_half_width: int | None = option(
        "--max-half-width H",
        "Only shapes of at most H cells from the centre to the edge (default: the largest "
        "possible).",
        read=whole(0, _MAX_HALF_WIDTH),
    )
    wandering: bool = flag("--wandering", "Include shapes that fall apart into movable blocks.")
    workers: int | None = option(
        "--workers N", "Number of processes (default: one per core).", read=whole(1, _MAX_WORKERS)
    )
    cluster: str | None = option(
        "--cluster ADDRESS", "Run on the Dask cluster with this scheduler."
    )
    resume: Path | None = option(
        "--resume DIR",
        "Checkpoint folder of a run to start or resume (default: output/SET/runs/...).",
    )
    proof: Path | None = option(
        "--proof DIR", "Write proofs of the impossible shapes, for `fabkit certify`."
    )
    count_s: float = option(
        "--count-budget SECONDS",
        f"Time limit for counting the solutions of a snowflake; 0 skips it (default: {COUNT_S:g}).",
        COUNT_S,
    )
    budget_s: float = option(
        "--budget SECONDS",
        f"Time limit for a shape, which is then listed as unknown (default: {DECIDE_S:g}).",
        DECIDE_S,
    )
    timed: bool = flag("--timed", "Record the search time in the catalog.")

    def run(self) -> int:
        report, puzzle, folder = self.report, self.puzzle, self.folder
        with suppress(FileNotFoundError):  # before the search, which may take hours
            other = read_json(folder / LIST).get("set")
            if other != puzzle.name:
                message = f"holds the snowflakes of {quote(other)}; choose another folder with -o"
                raise InputError.of(escape(str(folder / LIST)), message)

        from fabkit.jobs.checkpoint import Checkpoint
        from fabkit.puzzles.snowflakes.query import SnowflakeQuery
        from fabkit.puzzles.snowflakes.search import find_snowflakes

        pieces, parities = _pieces(puzzle, self.piece_ids), tuple(self.parity or PARITIES)
        flips = puzzle.flips if self.flips is None else self.flips
        bounds = self.max_half_width, self.count_s, self.budget_s
        query = SnowflakeQuery(puzzle, pieces, parities, flips, not self.wandering, *bounds)
        # One folder for each query.
        identity = json_text(query.fingerprint, indent=None)
        run = self.resume or folder / RUNS / f"snowflakes-{digest(identity)[:12]}"
        again = shlex.join(["--resume", str(run)])
        message = f"stopped; progress is saved; to continue, run the same command with {again}"
        with (
            cleanup_on_signal(lambda: message),
            self._pool() as pool,
            Checkpoint(run, query.fingerprint) as checkpoint,
        ):
            if kept := len(checkpoint.keys()):
                report.info(f"Resuming the run in {run}: {pluralize(kept, 'task')} done")
            with report.progress() as progress:
                results = find_snowflakes(query, checkpoint, pool, progress)
        return self._print_results(query, results)

    def _print_results(self, query: SnowflakeQuery, results: Sequence[ParityResult]) -> int:
        """Write the files, print the results, and return the exit code."""
        from fabkit.output.challenge import snowflake_sheet
        from fabkit.puzzles.snowflakes.catalog import command, document, proof_files, text
        from fabkit.puzzles.snowflakes.field import format_half_width
        from fabkit.sets.challenge_file import read_list

        report, folder = self.report, self.folder
        took_s = time.monotonic() - self.begin if self.timed else None
        catalog = document(query, results, command(query), took_s)
        head = ["unions", "full_area", "candidates", "solved", "impossible", "unknown"]
        rows = []
        for result in results:  # how many were left at each step of each search
            steps = result.funnel | {"impossible": sum(result.funnel["impossible"].values())}
            rows.append(
                [result.parity, format_half_width(result.half_width), *(steps[key] for key in head)]
            )
        report.table(["parity", "up to", *(key.replace("_", " ") for key in head)], rows)
        report.detail(*(f"{kind['parity']}: {kind['argument']}" for kind in catalog["complete"]))
        sheet = snowflake_sheet(query.puzzle, read_list(catalog, query.puzzle, LIST))
        names = _put(folder, [(LIST, text(catalog)), (SHEET, sheet)])
        listed, unknown = len(catalog["challenges"]), len(catalog["unknown"])
        report.info(f"Wrote {' and '.join(map(str, names))}: {pluralize(listed, 'snowflake')}")
        if self.proof is not None:
            proofs = (file for result in results for file in proof_files(query, result))
            report.info(*(f"Wrote {path}" for path in _put(self.proof, proofs)))
        if unknown:
            report.warn(f"{pluralize(unknown, 'shape')} undecided; see unknown in {LIST}")
        report.document(**catalog)
        return 0 if listed and not unknown else FAILURE_EXIT

    def _pool(self) -> Pool:
        if self.cluster is not None:
            from fabkit.jobs.cluster import ClusterPool

            if self.workers is not None:
                message = "a cluster has its own workers; omit --workers or --cluster"
                raise InputError.of("--workers", message)
            return ClusterPool(self.cluster)
        from fabkit.jobs.parallel import core_count
        from fabkit.jobs.run import local_pool

        return local_pool(self.workers or core_count())


def _put(folder: Path, files: Iterable[tuple[str, str]]) -> list[Path]:
    """Write files, each a name and a text, all or none."""
    paths = []
    with staged_writes(folder) as staging:
        for name, text in files:
            staging.path(name).write_bytes(text.encode())
            paths.append(folder / name)
        staging.commit()
    return paths


def _pieces(puzzle: PuzzleSet, given: str | None) -> tuple[str, ...]:
    """Return the ids in ``--pieces``, in the set's order: ``A,B,C``, or ``ABC``."""
    if given is None:
        return tuple(piece.id for piece in puzzle.pieces)
    letters = "," not in given and all(len(piece.id) == 1 for piece in puzzle.pieces)
    ids = list(given) if letters else [name.strip() for name in given.split(",")]
    duplicate = next((piece_id for piece_id in ids if ids.count(piece_id) > 1), None)
    if not ids or not all(ids):
        raise InputError.of("--pieces", f"expected ids such as A,B,C, found {quote(given)}")
    if duplicate is not None:
        raise InputError.of("--pieces", f"{quote(duplicate)} is listed twice; there is only one")
    return tuple(piece.id for piece in puzzle.select(ids))
