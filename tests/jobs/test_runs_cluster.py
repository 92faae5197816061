"""Runs on a Dask cluster: the same results, and one sentence for whatever goes wrong."""

# ruff: noqa: SIM117 - a pool, then its ledger, then what is tried with them

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

from fabkit.core.errors import InputError, OutsideError, to_install
from fabkit.jobs.cluster import cluster_pool
from fabkit.jobs.ledger import Ledger
from fabkit.jobs.pool import local_pool
from fabkit.jobs.work import Shard, run_shards
from tests.support.shards import PROBLEM, ROOT, _OddError, child, hashing, said, wait_for, wrong

distributed = pytest.importorskip("distributed")

pytestmark = [
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
    shards = hashing(tmp_path / "log", 50, 0.001)
    with cluster_pool(cluster.scheduler_address) as pool:
        with Ledger(tmp_path / "run", PROBLEM) as ledger:
            results = run_shards(shards[:30], ledger, pool)
            results += run_shards(shards, ledger, pool, told.append)[30:]
            assert run_shards([], ledger, pool) == []
    assert sorted(said(tmp_path / "log")) == list(range(50))
    with local_pool(1) as pool, Ledger(tmp_path / "here", PROBLEM) as ledger:
        assert results == run_shards(shards, ledger, pool)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert 0.5 < told[0] < 0.7


def test_in_a_notebook_where_a_loop_is_running(cluster: Any, tmp_path: Path) -> None:
    async def cell() -> list[bytes]:
        with cluster_pool(cluster.scheduler_address) as pool:
            with Ledger(tmp_path / "run", PROBLEM) as ledger:
                return run_shards(hashing(tmp_path / "log", 3, 0.0), ledger, pool)

    assert len(asyncio.run(cell())) == 3


@pytest.mark.parametrize(
    ("kind", "error"),
    [("input", InputError), ("value", ValueError), ("odd", _OddError), ("text", TypeError)],
)
def test_an_exception_is_the_same(
    kind: str, error: type[Exception], cluster: Any, tmp_path: Path
) -> None:
    with cluster_pool(cluster.scheduler_address) as pool:
        with Ledger(tmp_path, PROBLEM) as ledger, pytest.raises(error) as failure:
            run_shards([Shard("bad", wrong, (kind,))], ledger, pool)
    with local_pool(1) as here, Ledger(tmp_path, PROBLEM) as ledger:
        with pytest.raises(error) as usual:
            run_shards([Shard("bad", wrong, (kind,))], ledger, here)
    assert str(failure.value) == str(usual.value)


def test_killed_workers(cluster: Any, tmp_path: Path) -> None:
    shards = [
        *hashing(tmp_path / "log", 4, 0.0),
        Shard("bad", wrong, ("kill", str(tmp_path / "b"))),
    ]
    with cluster_pool(cluster.scheduler_address) as pool:
        with Ledger(tmp_path / "run", PROBLEM) as ledger:
            with pytest.raises(OutsideError) as failure:
                run_shards(shards, ledger, pool)
    assert str(failure.value) in [
        "workers of the cluster were killed again and again, most likely because memory ran out, "
        f'at the shard "{shard.key}" or one beside it'
        for shard in shards
    ]


def test_a_worker_with_another_fabkit(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabkit.jobs.cluster.__version__", "0.0.1")
    with cluster_pool(cluster.scheduler_address) as pool:
        with Ledger(tmp_path, PROBLEM) as ledger, pytest.raises(OutsideError) as failure:
            run_shards(hashing(tmp_path / "log", 1, 0.0), ledger, pool)
    from fabkit import __version__

    assert str(failure.value) == (
        f"a worker of the cluster has fabkit {__version__}, and here it is 0.0.1; "
        "install the same on both sides"
    )


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        (
            "tcp://127.0.0.1:1",
            OutsideError,
            'no Dask scheduler answers at "tcp://127.0.0.1:1"; is it running, and is it the '
            "right address?",
        ),
        ("nowhere", InputError, '--cluster: "nowhere" is no address of a Dask scheduler'),
    ],
)
def test_addresses_where_nobody_answers(address: str, error: type[Exception], message: str) -> None:
    start = time.monotonic()
    code = (
        "import sys\nimport fabkit.jobs.cluster as one\none._CONNECT_S = 1.0\n"
        "from fabkit.core.errors import FabkitError\n"
        "try:\n with one.cluster_pool(sys.argv[1]): pass\n"
        "except FabkitError as e: print(type(e).__name__, e)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, address], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert result.stderr == ""
    assert result.stdout.startswith(f"{error.__name__} {message}")
    assert time.monotonic() - start < 15.0


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(OutsideError) as failure:
        cluster_pool("tcp://127.0.0.1:1")
    assert str(failure.value) == (
        f"working on a cluster needs Dask; install it {to_install('cluster')}"
    )


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


@pytest.mark.long
def test_a_scheduler_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabkit.jobs.cluster._CONNECT_S", 1.0)
    with scheduler(tmp_path) as (address, _):
        with pytest.raises(OutsideError) as failure, cluster_pool(address):
            pass
    assert str(failure.value) == (
        f'the Dask scheduler at "{address}" has no workers; start some, and try again'
    )


def test_a_worker_that_cannot_import_fabkit(tmp_path: Path) -> None:
    before = "sys.modules['fabkit'] = None"
    with scheduler(tmp_path) as (address, _), started("worker", address, *WORKER, before=before):
        with cluster_pool(address) as pool, Ledger(tmp_path / "run", PROBLEM) as ledger:
            with pytest.raises(OutsideError) as failure:
                run_shards(hashing(tmp_path / "log", 3, 0.0), ledger, pool)
    assert str(failure.value).startswith(
        "a worker of the cluster cannot import fabkit; install it there: pip install fabkit-puzzles"
    )


CLUSTERED = """
from fabkit.jobs.cluster import cluster_pool
signal.signal(signal.SIGINT, signal.default_int_handler)
with cluster_pool({address!r}) as pool, Ledger(Path({folder!r}), PROBLEM) as ledger:
    try: run_shards(hashing(Path({log!r}), 9999, 0.02), ledger, pool)
    except OutsideError as error: print(error)
"""


@pytest.mark.long
@pytest.mark.parametrize("what", ["ctrl-c", "scheduler", "killed"])
def test_a_run_that_ends_early_keeps_what_was_done(what: str, tmp_path: Path) -> None:
    log, folder = tmp_path / "log", tmp_path / "run"
    with scheduler(tmp_path) as (address, process), started("worker", address, *WORKER):
        call = CLUSTERED.format(address=address, folder=str(folder), log=str(log))
        with child(call) as one:
            wait_for(log, 10, one)
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
            assert err.count("Traceback") == 1
            assert err.splitlines()[-1] == "KeyboardInterrupt"
    _check_what_was_kept(log, folder)


DROPPED = """
import distributed, threading
usual = distributed.Future.__del__
def dropped(future):
    if threading.current_thread() is threading.main_thread() and len(said(Path({log!r}))) > 9:
        distributed.Future.__del__ = usual
        signal.raise_signal(signal.SIGINT)
    usual(future)
distributed.Future.__del__ = dropped
"""


@pytest.mark.long
def test_ctrl_c_while_dask_throws_a_future_away(tmp_path: Path) -> None:
    """Python ignores what is raised there, so the run went on to its end."""
    log, folder = tmp_path / "log", tmp_path / "run"
    with scheduler(tmp_path) as (address, _), started("worker", address, *WORKER):
        call = CLUSTERED.format(address=address, folder=str(folder), log=str(log))
        with child(DROPPED.format(log=str(log)) + call) as one:
            _, err = one.end()
    assert "Exception ignored" not in err
    assert err.splitlines()[-1] == "KeyboardInterrupt"
    _check_what_was_kept(log, folder)


def _check_what_was_kept(log: Path, folder: Path) -> None:
    """All that had ended is in the ledger, so that a second run does only the rest."""
    shards = hashing(log, 5, 0.0)
    before = len(said(log))
    with local_pool(1) as pool, Ledger(folder, PROBLEM) as ledger:
        assert len(ledger.keys()) > 3
        done = ledger.keys()
        run_shards(shards, ledger, pool)
    again = len(said(log)) - before
    assert again == len({shard.key for shard in shards} - done)
