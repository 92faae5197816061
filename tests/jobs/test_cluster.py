"""Runs on a Dask cluster: the same results, and one sentence for whatever goes wrong."""

# ruff: noqa: SIM117 - a pool, then its checkpoint, then what is tried with them

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.errors import InputError, OutsideError
from fabkit.core.signals import STOPPED
from fabkit.jobs.checkpoint import Checkpoint
from fabkit.jobs.cluster import cluster_pool
from fabkit.jobs.run import Task, local_pool, run_tasks
from tests.support.tasks import PROBLEM, ROOT, child, hashing, said, wait_for, wrong

distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.integration,
    # Dask's own: sockets and loops of a cluster that is being closed, and forks that it makes.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as one:
        yield one


def test_the_same_results_as_here(cluster: Any, tmp_path: Path) -> None:
    told: list[float] = []
    tasks = hashing(tmp_path / "log", 50, 0.001)
    with cluster_pool(cluster.scheduler_address) as pool:
        with Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
            results = run_tasks(tasks[:30], checkpoint, pool)
            results += run_tasks(tasks, checkpoint, pool, told.append)[30:]
            assert run_tasks([], checkpoint, pool) == []
    assert sorted(said(tmp_path / "log")) == list(range(50))
    with local_pool(1) as pool, Checkpoint(tmp_path / "here", PROBLEM) as checkpoint:
        assert results == run_tasks(tasks, checkpoint, pool)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert 0.5 < told[0] < 0.7


def test_in_a_notebook_where_a_loop_is_running(cluster: Any, tmp_path: Path) -> None:
    async def cell() -> list[bytes]:
        with cluster_pool(cluster.scheduler_address) as pool:
            with Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
                return run_tasks(hashing(tmp_path / "log", 3, 0.0), checkpoint, pool)

    assert len(asyncio.run(cell())) == 3


def test_an_exception_is_the_same(cluster: Any, tmp_path: Path) -> None:
    kinds: list[tuple[str, type[Exception], str]] = [
        ("input", InputError, "5 faults"),
        ("value", ValueError, "broken"),
        ("odd", RuntimeError, "_OddError: 3, 4"),
        ("text", TypeError, "has to be bytes"),
    ]
    with cluster_pool(cluster.scheduler_address) as pool:
        with Checkpoint(tmp_path, PROBLEM) as checkpoint:
            for kind, error, text in kinds:
                with pytest.raises(error, match=text):
                    run_tasks([Task("bad", wrong, (kind,))], checkpoint, pool)


def test_killed_workers(cluster: Any, tmp_path: Path) -> None:
    tasks = [
        *hashing(tmp_path / "log", 4, 0.0),
        Task("bad", wrong, ("kill", str(tmp_path / "b"))),
    ]
    with cluster_pool(cluster.scheduler_address) as pool:
        with Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
            with pytest.raises(OutsideError) as failure:
                run_tasks(tasks, checkpoint, pool)
    assert str(failure.value) in [
        "workers of the cluster were killed again and again, most likely because memory ran out, "
        f'at the task "{task.key}" or one beside it'
        for task in tasks
    ]


def test_a_worker_with_another_fabkit(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabkit.jobs.cluster.__version__", "0.0.1")
    with cluster_pool(cluster.scheduler_address) as pool:
        with Checkpoint(tmp_path, PROBLEM) as checkpoint, pytest.raises(OutsideError) as failure:
            run_tasks(hashing(tmp_path / "log", 1, 0.0), checkpoint, pool)
    from fabkit import __version__

    assert str(failure.value) == (
        f"a worker of the cluster has fabkit {__version__}, and here it is 0.0.1; "
        "install the same on both sides"
    )


def test_an_address_where_nobody_answers() -> None:
    """In a process of its own: that must come to its end, too."""
    code = (
        "import fabkit.jobs.cluster as one\none._CONNECT_S = 1.0\n"
        "from fabkit.core.errors import FabkitError\n"
        "for address in ('tcp://127.0.0.1:1', 'nowhere'):\n"
        " try:\n  with one.cluster_pool(address): pass\n"
        " except FabkitError as e: print(type(e).__name__, e)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        'OutsideError no Dask scheduler answers at "tcp://127.0.0.1:1"; is it running, and is it '
        "the right address?",
        'InputError --cluster: "nowhere" is no address of a Dask scheduler, such as '
        "tcp://10.0.0.1:8786",
    ]


# --- a cluster of processes, as they are started by hand --------------------------------------------

START = "import sys; {before}; from distributed.cli.dask_{what} import main; main()"


@contextlib.contextmanager
def started(what: str, *arguments: str, before: str = "") -> Iterator[subprocess.Popen[bytes]]:
    code = START.format(what=what, before=before or "pass")
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "10"},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def scheduler(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    file = folder / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with started("scheduler", *options, "--scheduler-file", str(file)) as process:
        deadline = time.monotonic() + 30
        while not (file.exists() and file.read_text().rstrip().endswith("}")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield json.loads(file.read_text())["address"], process


WORKER = ["--no-nanny", "--no-dashboard", "--nthreads", "1"]


def test_a_scheduler_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabkit.jobs.cluster._WORKERS_S", 1.0)
    with scheduler(tmp_path) as (address, _):
        with pytest.raises(OutsideError) as failure, cluster_pool(address):
            pass
    assert str(failure.value) == (
        f'the Dask scheduler at "{address}" has no workers; start some, and try again'
    )


def test_a_worker_that_cannot_import_fabkit(tmp_path: Path) -> None:
    before = "sys.modules['fabkit'] = None"
    with scheduler(tmp_path) as (address, _), started("worker", address, *WORKER, before=before):
        with cluster_pool(address) as pool, Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
            with pytest.raises(OutsideError) as failure:
                run_tasks(hashing(tmp_path / "log", 3, 0.0), checkpoint, pool)
    assert str(failure.value).startswith(
        "a worker of the cluster cannot import fabkit; install it there: pip install fabkit-puzzles"
    )


#: Signals end it as they end a command; each result that is kept adds a line to a file.
CLUSTERED = """
from fabkit.core.signals import stop_quietly
from fabkit.jobs.cluster import cluster_pool
stop_quietly()
kept = open({kept!r}, "a", buffering=1)
with cluster_pool({address!r}) as pool, Checkpoint(Path({folder!r}), PROBLEM) as checkpoint:
    try: run_tasks(hashing(Path({log!r}), 400, 0.02), checkpoint, pool, lambda _: print(1, file=kept))
    except OutsideError as error: print(error)
"""


@pytest.mark.parametrize("what", ["ctrl-c", "scheduler", "killed"])
def test_a_run_that_ends_early_keeps_what_was_done(what: str, tmp_path: Path) -> None:
    log, folder, kept = (tmp_path / name for name in ("log", "run", "kept"))
    with scheduler(tmp_path) as (address, process), started("worker", address, *WORKER):
        call = CLUSTERED.format(address=address, folder=str(folder), log=str(log), kept=str(kept))
        with child(call) as one:
            wait_for(kept, 20, one)
            start = time.monotonic()
            if what == "scheduler":
                process.kill()
            elif what == "ctrl-c":
                one.process.send_signal(2)
            else:
                one.process.kill()
            out, err = one.end()
            assert time.monotonic() - start < 20.0
        if what == "scheduler":
            assert (out, err) == (f'the connection to the cluster at "{address}" was lost\n', "")
        elif what == "ctrl-c":
            assert (one.process.returncode, out, err) == (130, "", f"fabkit: {STOPPED}\n")
    _check_what_was_kept(log, folder)


def _check_what_was_kept(log: Path, folder: Path) -> None:
    """All that had ended is in the checkpoint, so that a second run does only the rest."""
    tasks = hashing(log, 5, 0.0)
    before = len(said(log))
    with local_pool(1) as pool, Checkpoint(folder, PROBLEM) as checkpoint:
        assert len(checkpoint.keys()) > 3
        done = checkpoint.keys()
        run_tasks(tasks, checkpoint, pool)
    again = len(said(log)) - before
    assert again == len({task.key for task in tasks} - done)
