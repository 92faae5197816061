"""Run tasks on a Dask cluster. Only this module imports Dask."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from fabkit import __version__
from fabkit.core.errors import (
    ExternalError,
    InputError,
    escape,
    install_hint,
    quote,
    require_library,
    truncate,
)
from fabkit.jobs.run import Pool, Task, WorkerLostError

#: Time limits for the scheduler to answer and for a first worker to register.
_CONNECT_S = 5.0
_WORKERS_S = 15.0
#: Time limit for fetching the result of a finished task.
_FETCH_S = 10.0
#: Tasks submitted per thread of the cluster.
_AHEAD = 4
#: Minimum number of threads to plan for.
_MIN_THREADS = 64


class ClusterPool(Pool):
    """A pool on a running Dask cluster, whose workers need the same version of fabkit.

    Leaving it cancels tasks that have not started; running tasks finish.

    Args:
        address: of the scheduler, such as ``"tcp://10.0.0.1:8786"``.

    Raises:
        ExternalError: when Dask is missing. On entering, when the scheduler does not answer within
            seconds or has no workers.
        InputError: on entering, when the address is invalid.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        with require_library("running on a cluster", "Dask", install_hint("cluster")):
            import distributed
        self._address = address
        self._dask: Any = distributed

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            # Silence Dask's logging: relevant failures become exceptions.
            stack.callback(logging.disable, logging.root.manager.disable)
            logging.disable(logging.CRITICAL)
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            self._client = stack.enter_context(contextlib.closing(self._connect()))
            try:
                self._client.wait_for_workers(1, timeout=_WORKERS_S)
            except TimeoutError:
                name = quote(self._address)
                message = f"the Dask scheduler at {name} has no workers; start some and try again"
                raise ExternalError(message) from None
            self.max_pending = _AHEAD * max(sum(self._client.nthreads().values()), _MIN_THREADS)
            self._stack = stack.pop_all()
        return self

    def _connect(self) -> Any:
        address = quote(self._address)
        try:
            with ThreadPoolExecutor(1) as executor:  # a notebook's thread runs a loop already
                executor.submit(lambda: asyncio.run(self._probe())).result()
            return self._dask.Client(
                self._address, timeout=_CONNECT_S, set_as_default=False, name="fabkit"
            )
        except (ValueError, TypeError):
            message = (
                f"{address} is not the address of a Dask scheduler, such as tcp://10.0.0.1:8786"
            )
            raise InputError.of("--cluster", message) from None
        except Exception:  # another protocol fails in arbitrary ways
            message = "is it running, and is it the right address?"
            raise ExternalError(f"no Dask scheduler answers at {address}; {message}") from None

    async def _probe(self) -> None:
        """Connect once and disconnect: a client that fails to connect hangs when Python exits."""
        security = self._dask.Security().get_connection_args("client")
        comm = await self._dask.comm.connect(self._address, timeout=_CONNECT_S, **security)
        await comm.close()

    def submit(self, task: Task) -> Any:
        """See `Pool.submit`."""
        call = pickle.dumps((task.call, task.arguments))
        return self._client.submit(_by_value(), call, __version__, pure=False)

    def cancel(self, futures: Iterable[Any]) -> None:
        """See `Pool.cancel`."""
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.cancel(list(futures), force=True)

    def result(self, future: Any, task: Task) -> bytes | BaseException:
        """See `Pool.result`. Exceptions raised here are Dask's; the task's own is returned."""
        try:
            version, outcome = future.result(timeout=_FETCH_S)
        except self._dask.TimeoutError:
            raise WorkerLostError("results were lost with their workers") from None
        except BaseException as error:  # some of Dask's exceptions derive from BaseException only
            return ExternalError(self._explain(error, f"at the task {quote(task.key)}"))
        if version == __version__:
            result: bytes | BaseException = outcome
            return result
        return ExternalError(
            f"a worker of the cluster has fabkit {version}, but this is {__version__}; "
            "install the same version on both"
        )

    def _explain(self, error: BaseException, place: str) -> str:
        errors = filter(None, (error, error.__cause__))
        messages = [truncate(escape(f"{type(e).__name__}: {e}")) for e in errors]
        if messages[0].startswith("KilledWorker"):
            # Dask blames every task that was queued on a killed worker, and reports one.
            return (
                "workers of the cluster were killed repeatedly, most likely because memory "
                f"ran out, {place} or a neighbouring one"
            )
        if any(name in type(error).__name__ for name in ("Cancelled", "CommClosed")):
            return f"the connection to the cluster at {quote(self._address)} was lost"
        if any("ModuleNotFound" in message and "fabkit" in message for message in messages):
            return (
                "a worker of the cluster cannot import fabkit; install it there: "
                f"pip install fabkit-puzzles=={__version__}"
            )
        return f"the cluster failed {place}: {messages[0]}"


def _by_value() -> Callable[[bytes, str], tuple[str, Any]]:
    """Return a function that a worker without fabkit can unpickle, so that it reports what is
    missing.

    Dask pickles module-level functions by name. A worker that cannot import one exits silently, and
    its client waits forever.
    """

    def perform(call: bytes, version: str) -> tuple[str, Any]:
        from fabkit import __version__ as here
        from fabkit.core.child import call_outcome

        # Results of different versions must not be mixed.
        return here, call_outcome(*pickle.loads(call)) if version == here else None  # noqa: S301

    return perform
