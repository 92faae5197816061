"""Runs on a Dask cluster: the same results, and one sentence for whatever goes wrong."""

# ruff: noqa: SIM117 - a pool, then its checkpoint, then what is tried with them

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from fabkit import __version__
from fabkit.core.errors import ExternalError, InputError
from fabkit.core.signals import STOPPED
from fabkit.jobs.checkpoint import Checkpoint
from fabkit.jobs.cluster import ClusterPool
from fabkit.jobs.run import Task, local_pool, run_tasks
from tests.support.tasks import (
    PROBLEM,
    ROOT,
    child,
    hashing,
    logged,
    scheduler,
    wait_for,
    worker,
    wrong,
)

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed"),
    # Dask's own: sockets and loops of a cluster that is being closed, and forks that it makes.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as one:
        yield one.scheduler_address


def failure_of(address: str, folder: Path, *tasks: Task) -> str:
    with ClusterPool(address) as pool, Checkpoint(folder, PROBLEM) as checkpoint:
        with pytest.raises(ExternalError) as failure:
            run_tasks(tasks, checkpoint, pool)
    return str(failure.value)


def test_the_same_results_as_here(address: str, tmp_path: Path) -> None:
    """In a notebook, too, where a loop is running; with more tasks than are sent at once."""
    progress: list[float] = []
    tasks = hashing(tmp_path / "log", 400, 0.0005)

    async def cell() -> list[bytes]:
        with ClusterPool(address) as pool, Checkpoint(tmp_path / "run", PROBLEM) as checkpoint:
            assert pool.max_pending < len(tasks)
            run_tasks(tasks[:100], checkpoint, pool)
            return run_tasks(tasks, checkpoint, pool, lambda share, _: progress.append(share))

    results = asyncio.run(cell())
    assert sorted(logged(tmp_path / "log")) == list(range(400))
    with local_pool(1) as pool, Checkpoint(tmp_path / "here", PROBLEM) as checkpoint:
        assert results == run_tasks(tasks, checkpoint, pool)
    assert progress == sorted(progress)
    assert 0.2 < progress[0] < 0.3
    assert progress[-1] == 1.0


def test_an_exception_is_the_same(address: str, tmp_path: Path) -> None:
    kinds: list[tuple[str, type[Exception], str]] = [
        ("input", InputError, "5 errors"),
        ("value", ValueError, "broken"),
        ("odd", RuntimeError, "_OddError: 3, 4"),
    ]
    with ClusterPool(address) as pool, Checkpoint(tmp_path, PROBLEM) as checkpoint:
        for kind, error, text in kinds:
            with pytest.raises(error, match=text):
                run_tasks([Task("bad", wrong, (kind,))], checkpoint, pool)


def test_killed_workers(address: str, tmp_path: Path) -> None:
    tasks = [*hashing(tmp_path / "log", 4, 0.0), Task("bad", wrong, ("kill", str(tmp_path / "b")))]
    assert failure_of(address, tmp_path / "run", *tasks) in [
        "workers of the cluster were killed repeatedly, most likely because memory ran out, "
        f'at the task "{task.key}" or a neighbouring one'
        for task in tasks
    ]


def test_a_worker_with_another_fabkit(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabkit.jobs.cluster.__version__", "0.0.1")
    assert failure_of(address, tmp_path, *hashing(tmp_path / "log", 1, 0.0)) == (
        f"a worker of the cluster has fabkit {__version__}, but this is 0.0.1; "
        "install the same version on both"
    )


def test_an_address_where_nobody_answers() -> None:
    """In a separate process, which must end, too."""
    code = (
        "import fabkit.jobs.cluster as one\none._CONNECT_S = 1.0\n"
        "from fabkit.core.errors import FabkitError\n"
        "for address in ('tcp://127.0.0.1:1', 'nowhere'):\n"
        " try:\n  with one.ClusterPool(address): pass\n"
        " except FabkitError as e: print(type(e).__name__, e)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        'ExternalError no Dask scheduler answers at "tcp://127.0.0.1:1"; is it running, and is it '
        "the right address?",
        'InputError --cluster: "nowhere" is not the address of a Dask scheduler, such as '
        "tcp://10.0.0.1:8786",
    ]


def test_workers_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with scheduler(tmp_path) as (address, _):
        with monkeypatch.context() as patch:
            patch.setattr("fabkit.jobs.cluster._WORKERS_S", 1.0)
            with pytest.raises(ExternalError) as failure, ClusterPool(address):
                pass
        assert str(failure.value) == (
            f'the Dask scheduler at "{address}" has no workers; start some and try again'
        )
        with worker(address, before="sys.modules['fabkit'] = None"):
            logged = failure_of(address, tmp_path / "run", *hashing(tmp_path / "log", 3, 0.0))
        assert logged.startswith(
            "a worker of the cluster cannot import fabkit; install it there: pip"
        )


#: Signals end it as they end a command; each result that is kept adds a line to a file.
CLUSTERED = """
from fabkit.core.signals import exit_on_signals
from fabkit.jobs.cluster import ClusterPool
exit_on_signals()
kept = open({kept!r}, "a", buffering=1)
with ClusterPool({address!r}) as pool, Checkpoint(Path({folder!r}), PROBLEM) as checkpoint:
    try: run_tasks(hashing(Path({log!r}), 4000, 0.02), checkpoint, pool, lambda *_: print(1, file=kept))
    except ExternalError as error: print(error)
"""


@pytest.mark.parametrize("what", ["ctrl-c", "scheduler"])
def test_a_run_that_ends_early_keeps_what_was_done(what: str, tmp_path: Path) -> None:
    """So that a second run does only the rest."""
    log, folder, kept = (tmp_path / name for name in ("log", "run", "kept"))
    with scheduler(tmp_path) as (address, process), worker(address):
        call = CLUSTERED.format(address=address, folder=str(folder), log=str(log), kept=str(kept))
        with child(call) as one:
            wait_for(kept, 20, one)
            process.kill() if what == "scheduler" else one.process.send_signal(2)
            out, err = one.end()
        if what == "scheduler":
            assert (out, err) == (f'the connection to the cluster at "{address}" was lost\n', "")
        else:
            assert (one.process.returncode, out, err) == (130, "", f"fabkit: {STOPPED}\n")
    tasks, before = hashing(log, 25, 0.0), len(logged(log))
    with local_pool(1) as pool, Checkpoint(folder, PROBLEM) as checkpoint:
        done = checkpoint.keys()
        assert 19 <= len(done) < 4000
        run_tasks(tasks, checkpoint, pool)
    assert len(logged(log)) - before == len({task.key for task in tasks} - done)
