"""Working on shards on a Dask cluster: the only place that knows Dask."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import queue
import warnings
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fabkit import __version__
from fabkit.core.errors import InputError, OutsideError, cut, printable, shown, to_install
from fabkit.jobs.parcel import opened, packed, perform
from fabkit.jobs.pool import Pool, taken
from fabkit.jobs.shard import Shard

#: So long a scheduler may take to answer, and a first worker, which may be starting, to be there.
_CONNECT_S = 5.0
_WORKERS_S = 15.0
#: So long the result of a shard that has ended may take on its way.
_FETCH_S = 10.0
#: So many shards are on their way at least, and so many for each thread of the workers.
_LEAST_SENT = 16
_SENT_PER_THREAD = 2
#: The loggers whose complaints would stand beside our one message.
_LOGGERS = ("distributed", "tornado", "asyncio")

#: How a worker answers whose fabkit is another version. No pickle begins so.
_OTHER = b"fabkit "


def cluster_pool(address: str) -> Pool:
    """A pool on a Dask cluster that is already running.

    Its workers need the same fabkit. Closing the pool takes back what has not begun; a shard
    that is being worked on ends by itself on its worker.

    Args:
        address: of the scheduler, such as ``"tcp://10.0.0.1:8786"``.

    Returns:
        It; entering it connects.

    Raises:
        OutsideError: when Dask is missing. On entering, when nobody answers within seconds, or
            the scheduler has no workers.
        InputError: on entering, when the address is none.

    Example:
        >>> with cluster_pool("nowhere") as pool:
        ...     pass
        Traceback (most recent call last):
        ...
        fabkit.core.errors.InputError: --cluster: "nowhere" is no address of a Dask scheduler, \
such as tcp://10.0.0.1:8786
    """
    try:
        import distributed
    except ModuleNotFoundError:
        message = f"working on a cluster needs Dask; install it {to_install('cluster')}"
        raise OutsideError(message) from None
    except ImportError as error:
        raise OutsideError(f"cannot load Dask: {printable(str(error))}") from None
    return _Cluster(address, distributed)


class _Cluster(Pool):
    """A client of the scheduler while it is entered."""

    def __init__(self, address: str, distributed: Any) -> None:
        self._address = address
        self._dask = distributed
        self._held = contextlib.ExitStack()

    def __enter__(self) -> _Cluster:
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

    def results(self, shards: Sequence[Shard]) -> Generator[tuple[int, bytes], None, None]:
        waiting = iter(enumerate(shards))
        sent: dict[Any, int] = {}
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def send(index: int, shard: Shard) -> None:
            future = self._client.submit(_by_value(), packed(shard), __version__, pure=False)
            sent[future] = index
            future.add_done_callback(ended.put)

        failure: BaseException | None = None
        threads = sum(self._client.nthreads().values())
        with self._cancelling(sent):
            for one in itertools.islice(waiting, max(_LEAST_SENT, _SENT_PER_THREAD * threads)):
                send(*one)
            while sent:
                future = taken(ended)
                index = sent.pop(future)
                try:
                    result = self._result(future, shards[index])
                except _LostError:
                    send(index, shards[index])
                    continue
                except BaseException as error:
                    failure = failure or error
                else:
                    if failure is None:
                        for one in itertools.islice(waiting, 1):
                            send(*one)
                    yield index, result
                if failure is not None and ended.empty():
                    raise failure

    @contextlib.contextmanager
    def _cancelling(self, futures: Collection[Any]) -> Iterator[None]:
        """At the end, what is still among them is taken back."""
        try:
            yield
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.cancel(list(futures), force=True)

    def _result(self, future: Any, shard: Shard) -> bytes:
        """What came of a shard; the exceptions here are Dask's own, the shard's are packed."""
        try:
            outcome: bytes = future.result(timeout=_FETCH_S)
        except self._dask.TimeoutError:
            raise _LostError from None
        except BaseException as error:  # some of its exceptions are no Exception
            raise OutsideError(self._breakdown(error, shard)) from None
        if outcome.startswith(_OTHER):
            raise OutsideError(
                f"a worker of the cluster has fabkit {outcome.removeprefix(_OTHER).decode()}, "
                f"and here it is {__version__}; install the same on both sides"
            )
        return opened(outcome)

    def _breakdown(self, error: BaseException, shard: Shard) -> str:
        place = f"at the shard {shown(shard.key)}"
        if type(error).__name__ == "KilledWorker":
            # Dask blames every shard that waited there when a worker went, and tells of one.
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


class _LostError(Exception):
    """The result of a shard was lost with its worker, and the shard has to be done once more."""


def _by_value() -> Callable[[bytes, str], bytes]:
    """A function that a worker without fabkit can unpickle, and so say what it lacks.

    Dask takes functions at the top of a module by their names. A worker that does not know one
    goes away without a word, and its client waits for ever.
    """

    def perform_there(call: bytes, version: str) -> bytes:
        from fabkit.jobs.cluster import _perform

        return _perform(call, version)

    return perform_there


def _perform(call: bytes, version: str) -> bytes:
    """Runs on the cluster. Other versions may have other results, which must not be mixed."""
    if version != __version__:
        return _OTHER + __version__.encode()
    return perform(call)


def _short(error: BaseException | None) -> str:
    return cut(printable(f"{type(error).__name__}: {error}")) if error is not None else ""


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Keeps Dask's log and warnings off standard error: what matters becomes an exception."""
    loggers = [
        logging.getLogger(name)
        for name in (*_LOGGERS, *logging.root.manager.loggerDict)
        if name.split(".")[0] in _LOGGERS
    ]
    before = [(logger, logger.level) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in before:
            logger.setLevel(level)
