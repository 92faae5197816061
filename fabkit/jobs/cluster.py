"""Working on tasks on a Dask cluster: the only place that knows Dask."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from fabkit import __version__
from fabkit.core.errors import InputError, OutsideError, cut, printable, shown, to_install
from fabkit.jobs.run import FuturesPool, LostError, Pool, Task, outcome

#: So long a scheduler may take to answer, and a first worker, which may be starting, to be there.
_CONNECT_S = 5.0
_WORKERS_S = 15.0
#: So long the result of a task that has ended may take on its way.
_FETCH_S = 10.0
#: The loggers whose complaints would stand beside our one message.
_LOGGERS = ("distributed", "tornado", "asyncio")


def cluster_pool(address: str) -> Pool:
    """A pool on a Dask cluster that is already running.

    Its workers need the same fabkit. Closing the pool takes back what has not begun; a task
    that is being worked on ends by itself on its worker.

    Args:
        address: of the scheduler, such as ``"tcp://10.0.0.1:8786"``.

    Returns:
        It; entering it connects.

    Raises:
        OutsideError: when Dask is missing. On entering, when nobody answers within seconds, or
            the scheduler has no workers.
        InputError: on entering, when the address is none.
    """
    try:
        import distributed
    except ModuleNotFoundError:
        message = f"working on a cluster needs Dask; install it {to_install('cluster')}"
        raise OutsideError(message) from None
    except ImportError as error:
        raise OutsideError(f"cannot load Dask: {printable(str(error))}") from None
    return _Cluster(address, distributed)


class _Cluster(FuturesPool):
    """A client of the scheduler while it is entered."""

    def __init__(self, address: str, distributed: Any) -> None:
        self._address, self._dask = address, distributed
        self._held = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as held:
            held.enter_context(_silence())
            self._client = held.enter_context(contextlib.closing(self._connected()))
            try:
                self._client.wait_for_workers(1, timeout=_WORKERS_S)
            except TimeoutError:
                name = shown(self._address)
                message = f"the Dask scheduler at {name} has no workers; start some, and try again"
                raise OutsideError(message) from None
            self._held = held.pop_all()
        return self

    def _connected(self) -> Any:
        try:
            with ThreadPoolExecutor(1) as own:  # a notebook's thread has a loop running already
                own.submit(lambda: asyncio.run(self._knock())).result()
            return self._dask.Client(
                self._address, timeout=_CONNECT_S, set_as_default=False, name="fabkit"
            )
        except (ValueError, TypeError):
            raise InputError.of(
                "--cluster",
                f"{shown(self._address)} is no address of a Dask scheduler, such as "
                "tcp://10.0.0.1:8786",
            ) from None
        except Exception:  # what answers in another language is misread in any way, as too long
            raise OutsideError(
                f"no Dask scheduler answers at {shown(self._address)}; "
                "is it running, and is it the right address?"
            ) from None

    async def _knock(self) -> None:
        """Connects once, and leaves. A client that could not connect hangs when Python ends."""
        security = self._dask.Security().get_connection_args("client")
        comm = await self._dask.comm.connect(self._address, timeout=_CONNECT_S, **security)
        await comm.close()

    def close(self) -> None:
        self._held.close()

    def submit(self, tasks: Iterable[Task]) -> Mapping[Any, Task]:
        call = _by_value()
        return {
            self._client.submit(
                call, pickle.dumps((task.call, task.arguments)), __version__, pure=False
            ): task
            for task in tasks
        }

    def cancel(self, futures: Iterable[Any]) -> None:
        with contextlib.suppress(Exception):  # the scheduler may be gone
            self._client.cancel(list(futures), force=True)

    def result(self, future: Any, task: Task) -> bytes | BaseException:
        """The exceptions here are Dask's own; the task's is returned."""
        try:
            version, found = future.result(timeout=_FETCH_S)
        except self._dask.TimeoutError:
            raise LostError("results were lost with their workers") from None
        except BaseException as error:  # some of its exceptions are no Exception
            raise OutsideError(self._breakdown(error, task)) from None
        if version != __version__:
            raise OutsideError(
                f"a worker of the cluster has fabkit {version}, and here it is {__version__}; "
                "install the same on both sides"
            )
        result: bytes | BaseException = found
        return result

    def _breakdown(self, error: BaseException, task: Task) -> str:
        place = f"at the task {shown(task.key)}"
        if type(error).__name__ == "KilledWorker":
            # Dask blames every task that waited there when a worker went, and tells of one.
            return (
                "workers of the cluster were killed again and again, most likely because memory "
                f"ran out, {place} or one beside it"
            )
        if any(name in type(error).__name__ for name in ("Cancelled", "CommClosed")):
            return f"the connection to the cluster at {shown(self._address)} was lost"
        text = f"{_short(error)} {_short(error.__cause__)}"
        if "fabkit" in text and ("ModuleNotFound" in text or "No module named" in text):
            return (
                "a worker of the cluster cannot import fabkit; install it there: "
                f"pip install fabkit-puzzles=={__version__}"
            )
        return f"the cluster failed {place}: {_short(error)}"


def _by_value() -> Callable[[bytes, str], tuple[str, Any]]:
    """A function that a worker without fabkit can unpickle, and so say what it lacks.

    Dask takes functions at the top of a module by their names. A worker that does not know one
    goes away without a word, and its client waits for ever.
    """

    def perform_there(call: bytes, version: str) -> tuple[str, Any]:
        from fabkit.jobs.cluster import _perform

        return _perform(call, version)

    return perform_there


def _perform(call: bytes, version: str) -> tuple[str, Any]:
    """Runs on the cluster. Other versions may have other results, which must not be mixed."""
    if version != __version__:
        return __version__, None
    return __version__, outcome(*pickle.loads(call))  # noqa: S301 - from our own client


def _short(error: BaseException | None) -> str:
    return cut(printable(f"{type(error).__name__}: {error}")) if error is not None else ""


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keeps Dask's log and warnings off standard error: what matters becomes an exception."""
    names = (*_LOGGERS, *logging.root.manager.loggerDict)
    loggers = [logging.getLogger(name) for name in names if name.split(".")[0] in _LOGGERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
