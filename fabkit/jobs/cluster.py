"""Working on tasks on a Dask cluster: the only place that knows Dask."""

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
from fabkit.core.errors import InputError, OutsideError, cut, printable, shown, to_install
from fabkit.jobs.run import LostError, Pool, Task

#: So long a scheduler may take to answer, and a first worker, which may be starting, to be there.
_CONNECT_S = 5.0
_WORKERS_S = 15.0
#: So long the result of a task that has ended may take on its way.
_FETCH_S = 10.0
#: So many tasks are with the cluster for each of its threads; or for so many that may come later.
_AHEAD, _LEAST_THREADS = 4, 64


class ClusterPool(Pool):
    """A pool on a Dask cluster that is already running, whose workers need the same fabkit.

    Leaving it takes back what has not begun; a task that is being worked on ends by itself.

    Args:
        address: of the scheduler, such as ``"tcp://10.0.0.1:8786"``.

    Raises:
        OutsideError: when Dask is missing. On entering, when nobody answers within seconds, or
            the scheduler has no workers.
        InputError: on entering, when the address is none.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        try:
            import distributed
        except ModuleNotFoundError:
            message = f"working on a cluster needs Dask; install it {to_install('cluster')}"
            raise OutsideError(message) from None
        except ImportError as error:
            raise OutsideError(f"cannot load Dask: {printable(str(error))}") from None
        self._address = address
        self._dask: Any = distributed

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as held:
            # What matters of Dask's complaints becomes an exception.
            held.callback(logging.disable, logging.root.manager.disable)
            logging.disable(logging.CRITICAL)
            held.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            self._client = held.enter_context(contextlib.closing(self._connected()))
            try:
                self._client.wait_for_workers(1, timeout=_WORKERS_S)
            except TimeoutError:
                name = shown(self._address)
                message = f"the Dask scheduler at {name} has no workers; start some, and try again"
                raise OutsideError(message) from None
            threads = sum(self._client.nthreads().values())
            self.window = _AHEAD * max(threads, _LEAST_THREADS)
            self._held = held.pop_all()
        return self

    def _connected(self) -> Any:
        address = shown(self._address)
        try:
            with ThreadPoolExecutor(1) as own:  # a notebook's thread has a loop running already
                own.submit(lambda: asyncio.run(self._knock())).result()
            return self._dask.Client(
                self._address, timeout=_CONNECT_S, set_as_default=False, name="fabkit"
            )
        except (ValueError, TypeError):
            message = f"{address} is no address of a Dask scheduler, such as tcp://10.0.0.1:8786"
            raise InputError.of("--cluster", message) from None
        except Exception:  # what answers in another language is misread in any way, as too long
            message = "is it running, and is it the right address?"
            raise OutsideError(f"no Dask scheduler answers at {address}; {message}") from None

    async def _knock(self) -> None:
        """Connects once, and leaves. A client that could not connect hangs when Python ends."""
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
        """See `Pool.result`. The exceptions here are Dask's own; the task's is returned."""
        try:
            version, found = future.result(timeout=_FETCH_S)
        except self._dask.TimeoutError:
            raise LostError("results were lost with their workers") from None
        except BaseException as error:  # some of its exceptions are no Exception
            return OutsideError(self._breakdown(error, f"at the task {shown(task.key)}"))
        if version == __version__:
            result: bytes | BaseException = found
            return result
        return OutsideError(
            f"a worker of the cluster has fabkit {version}, and here it is {__version__}; "
            "install the same on both sides"
        )

    def _breakdown(self, error: BaseException, place: str) -> str:
        said = [cut(printable(f"{type(e).__name__}: {e}")) for e in (error, error.__cause__) if e]
        if said[0].startswith("KilledWorker"):
            # Dask blames every task that waited there when a worker went, and tells of one.
            return (
                "workers of the cluster were killed again and again, most likely because memory "
                f"ran out, {place} or one beside it"
            )
        if any(name in type(error).__name__ for name in ("Cancelled", "CommClosed")):
            return f"the connection to the cluster at {shown(self._address)} was lost"
        if any("ModuleNotFound" in one and "fabkit" in one for one in said):
            return (
                "a worker of the cluster cannot import fabkit; install it there: "
                f"pip install fabkit-puzzles=={__version__}"
            )
        return f"the cluster failed {place}: {said[0]}"


def _by_value() -> Callable[[bytes, str], tuple[str, Any]]:
    """A function that a worker without fabkit can unpickle, and so say what it lacks.

    Dask takes functions at the top of a module by their names. A worker that does not know one
    goes away without a word, and its client waits for ever.
    """

    def perform(call: bytes, version: str) -> tuple[str, Any]:
        from fabkit import __version__ as here
        from fabkit.jobs.run import outcome

        # Other versions may have other results, which must not be mixed.
        return here, outcome(*pickle.loads(call)) if version == here else None  # noqa: S301

    return perform
