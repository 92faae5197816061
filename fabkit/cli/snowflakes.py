"""`fabkit snowflakes`."""

from __future__ import annotations

import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fabkit.cli import options
from fabkit.cli.report import Report
from fabkit.core.errors import InputError, many, printable, shown
from fabkit.core.files import (
    Staging,
    digest,
    folder_lock,
    json_text,
    outside_failures,
    read_json,
)
from fabkit.core.signals import at_stop
from fabkit.model.library import load_set
from fabkit.model.puzzle import PuzzleSet
from fabkit.puzzles.snowflakes import COUNT_S, DECIDE_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabkit.jobs.pool import Pool
    from fabkit.puzzles.snowflakes.search import Searched
    from fabkit.puzzles.snowflakes.wish import Wish

NO_EXIT = 1
_MOST_HALF_WIDTH = 40
_MOST_WORKERS = 256
LIST, SHEET, RUNS = "snowflakes.json", "snowflakes.svg", "runs"


def snowflakes(
    set: options.Set,
    parity: Annotated[
        str | None,
        typer.Option(
            "--parity",
            metavar="PARITY,…",
            help="Where the centre lies: even (a corner of the grid), odd (the middle of a cell), "
            "mixed (a ring and a centre half a unit apart).",
            show_default="all",
        ),
    ] = None,
    flips: Annotated[
        bool | None,
        typer.Option(
            "--flips/--no-flips", help="Pieces may be turned over.", show_default="the set's rules"
        ),
    ] = None,
    pieces: Annotated[
        str | None,
        typer.Option(
            "--pieces", metavar="IDS", help="Only of these pieces.", show_default="all pieces"
        ),
    ] = None,
    max_half_width: Annotated[
        str | None,
        typer.Option(
            "--max-half-width",
            metavar="H",
            help="Only on boards of so many cells from the centre to the edge.",
            show_default="as far as any can reach",
        ),
    ] = None,
    wandering: Annotated[
        bool,
        typer.Option(
            "--wandering", help="Also shapes that fall apart into blocks that can wander."
        ),
    ] = False,
    workers: Annotated[
        str | None,
        typer.Option(
            "--workers", metavar="N", help="Processes at work.", show_default="one per core"
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster", metavar="ADDRESS", help="Work on the Dask cluster with this scheduler."
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="DIR",
            help="Keep the run in this folder, or go on with the one that is there.",
            show_default="output/SET/runs/…",
        ),
    ] = None,
    proof: Annotated[
        str | None,
        typer.Option(
            "--proof",
            metavar="DIR",
            help="Write a proof for every shape that is impossible, for `fabkit certify`.",
        ),
    ] = None,
    count_budget: Annotated[
        str | None,
        typer.Option(
            "--count-budget",
            metavar="SECONDS",
            help="Count the solutions of each snowflake for so long; 0 does not count.",
            show_default=f"{COUNT_S:g}",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="SECONDS",
            help="Give up on a hard shape after so long; it is then listed as unknown.",
            show_default=f"{DECIDE_S:g}",
        ),
    ] = None,
    timed: Annotated[
        bool, typer.Option("--timed", help="Write into the catalog how long it took.")
    ] = False,
    output: options.Folder = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Find all shapes of the pieces that have the square's symmetry. Exit code 1 for none."""
    begin = time.monotonic()
    report = Report(json, quiet, verbose)
    puzzle = load_set(set)
    folder = options.set_folder(output, puzzle)  # all this before hours have been spent
    _refuse_other(folder, puzzle)
    proofs = None if proof is None else options.folder_path(proof, "--proof")

    from fabkit.jobs.ledger import Ledger
    from fabkit.puzzles.snowflakes.field import PARITIES
    from fabkit.puzzles.snowflakes.search import find
    from fabkit.puzzles.snowflakes.wish import Wish

    wish = Wish(
        puzzle,
        _pieces(puzzle, pieces),
        options.some_of(parity, "--parity", "parity", "there are", PARITIES),
        puzzle.flips if flips is None else flips,
        not wandering,
        options.whole_number(max_half_width, "--max-half-width", None, 0, _MOST_HALF_WIDTH),
        options.seconds(count_budget, COUNT_S, "--count-budget") or 0.0,
        options.seconds(budget, DECIDE_S) or 0.0,
    )
    run = _run_folder(folder, resume, wish)
    again = shlex.join(["--resume", str(run)])
    message = f"stopped; what is done is kept: the same command with {again} goes on"
    with (
        at_stop(lambda: message),
        _pool(workers, cluster) as pool,
        Ledger(run, wish.identity) as ledger,
    ):
        kept = len(ledger.keys())
        if kept:
            report.say(f"going on with the run in {run}: {many(kept, 'shard')} done already")
        with report.stages() as told:
            found = find(wish, ledger, pool, told)
    return _tell(wish, found, folder, proofs, begin if timed else None, report)


def _tell(
    wish: Wish,
    found: Sequence[Searched],
    folder: Path,
    proofs: Path | None,
    begin: float | None,
    report: Report,
) -> int:
    """Writes the files, says what there is, and returns the exit code."""
    from fabkit.puzzles.snowflakes.catalog import command, document

    took_s = None if begin is None else time.monotonic() - begin
    catalog = document(wish, found, command(wish), took_s)
    _funnel(found, report)
    for one in catalog["complete"]:
        report.detail(f"{one['parity']}: {one['argument']}")
    names = _write(folder, wish.puzzle, catalog)
    listed, unknown = len(catalog["challenges"]), len(catalog["unknown"])
    report.say(f"{many(listed, 'snowflake')}; wrote {' and '.join(names)}")
    if proofs is not None:
        for path in _write_proofs(proofs, wish, found):
            report.say(f"wrote {path}")
    if unknown:
        report.warn(f"{many(unknown, 'shape')} could not be decided; see unknown in {LIST}")
    report.document(catalog)
    return 0 if listed and not unknown else NO_EXIT


def _funnel(found: Sequence[Searched], report: Report) -> None:
    """How many were left at each step of each search."""
    from fabkit.puzzles.snowflakes.field import spelt

    head = ["parity", "up to", "unions", "full area", "candidates"]
    rows = []
    for one in found:
        funnel = one.funnel
        steps = [str(funnel[key]) for key in ("unions", "full_area", "candidates", "solved")]
        impossible = str(sum(funnel["impossible"].values()))
        rows.append([one.parity, spelt(one.half_width), *steps, impossible, str(funnel["unknown"])])
    report.table([*head, "solved", "impossible", "unknown"], rows)


def _refuse_other(folder: Path, puzzle: PuzzleSet) -> None:
    """Refuses a folder with another set's snowflakes, or with those of a newer fabkit.

    Raises:
        InputError: then.
    """
    path = folder / LIST
    try:
        other = read_json(path).get("set")
    except FileNotFoundError:
        return
    if other != puzzle.name:
        message = f"holds the snowflakes of {shown(other)}; choose another folder with -o"
        raise InputError.of(printable(str(path)), message)


def _write(folder: Path, puzzle: PuzzleSet, catalog: dict[str, Any]) -> list[str]:
    from fabkit.output.snowflakes import snowflake_sheet
    from fabkit.puzzles.snowflakes.catalog import text

    drawn = snowflake_sheet(puzzle, catalog["challenges"])
    return list(map(str, _put(folder, [(LIST, text(catalog)), (SHEET, drawn)])))


def _write_proofs(folder: Path, wish: Wish, found: Sequence[Searched]) -> list[Path]:
    """One file for each parity, and two for each shape that was left to CaDiCaL."""
    from fabkit.puzzles.snowflakes.prooffiles import files

    return _put(folder, (file for one in found for file in files(wish, one)))


def _put(folder: Path, files: Iterable[tuple[str, str]]) -> list[Path]:
    """Writes files, each a name and a text, all or none of them."""
    paths = []
    with (
        folder_lock(folder),
        outside_failures(f"cannot write {folder}"),
        Staging(folder) as staging,
    ):
        for name, text in files:
            staging.path(name).write_text(text, encoding="utf-8", newline="\n")
            paths.append(folder / name)
        staging.commit()
    return paths


def _pool(workers: str | None, cluster: str | None) -> Pool:
    if cluster is not None:
        from fabkit.jobs.cluster import cluster_pool

        if workers is not None:
            raise InputError.of("--workers", "a cluster has its own workers; leave one of them out")
        return cluster_pool(cluster)
    from fabkit.jobs.pool import local_pool

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return local_pool(options.whole_number(workers, "--workers", cores or 1, 1, _MOST_WORKERS))


def _run_folder(folder: Path, resume: str | None, wish: Wish) -> Path:
    """Where the ledger is: a folder of its own for every question."""
    if resume is not None:
        return options.folder_path(resume, "--resume")
    said = json_text(wish.identity, indent=None)
    return folder / RUNS / f"snowflakes-{digest(said)[:12]}"


def _pieces(puzzle: PuzzleSet, given: str | None) -> tuple[str, ...]:
    """The ids that ``--pieces`` names, in the set's order: ``A,B,C``, or ``ABC`` as in challenges.

    Raises:
        InputError: when one is not known or named twice.
    """
    if given is None:
        return tuple(piece.id for piece in puzzle.pieces)
    letters = "," not in given and all(len(piece.id) == 1 for piece in puzzle.pieces)
    ids = list(given) if letters else [name.strip() for name in given.split(",")]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if not ids or not all(ids):
        raise InputError.of("--pieces", f"expected ids such as A,B,C, found {shown(given)}")
    if twice is not None:
        raise InputError.of("--pieces", f"{shown(twice)} is named twice; there is one")
    return tuple(piece.id for piece in puzzle.select(ids))
