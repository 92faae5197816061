"""What goes to a worker and comes back, as bytes: a call, and its result or its exception."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from typing import Any

from fabkit.core.errors import FabkitError
from fabkit.jobs.shard import Shard


def packed(shard: Shard) -> bytes:
    """A shard's call as bytes, for `perform`.

    Raises:
        Exception: whatever pickle raises, when the call or an argument cannot be pickled.
    """
    return pickle.dumps((shard.call, shard.arguments))


def perform(call: bytes) -> bytes:
    """Makes a packed call. It raises nothing: exceptions are packed, too.

    Args:
        call: from `packed`.

    Returns:
        Its outcome, for `opened`.
    """
    try:
        function, arguments = pickle.loads(call)  # noqa: S301 - from our own parent
        return pickle.dumps((True, called(function, arguments)))
    except BaseException as error:
        return pickle.dumps((False, _portable(error)))


def called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """Makes a shard's call.

    Raises:
        TypeError: when its result is not bytes.
        BaseException: whatever the call raises.

    Example:
        >>> called(bytes, ([102, 103],))
        b'fg'
    """
    result = function(*arguments)
    if not isinstance(result, bytes):
        raise TypeError(f"a shard's result has to be bytes, not {type(result).__name__}")
    return result


def opened(outcome: bytes) -> bytes:
    """The result of a call.

    Args:
        outcome: from `perform`.

    Raises:
        BaseException: what the call raised, of the same type, with the same text.

    Example:
        >>> from operator import concat
        >>> opened(perform(packed(Shard("greeting", concat, (b"good ", b"day")))))
        b'good day'
        >>> opened(perform(packed(Shard("wrong", concat, (b"", 1)))))
        Traceback (most recent call last):
        ...
        TypeError: can't concat int to bytes
        ...
    """
    well, content = pickle.loads(outcome)  # noqa: S301 - from our own worker
    if well:
        result: bytes = content
        return result
    raise _restored(content)


def _portable(error: BaseException) -> bytes:
    """An exception as bytes. What is a bug carries along where in the worker it happened."""
    if not isinstance(error, FabkitError):
        lines = traceback.format_exception(error)
        error.add_note("In the worker:\n" + "".join(lines).rstrip())
    substitute = RuntimeError(f"{type(error).__qualname__}: {error}")
    # Pickle calls the class with the arguments that it gave to Exception, which fails, or means
    # something else, when its own are others: InputError's are. Then it is made without a call.
    for content in (error, (type(error), error.args, error.__dict__), substitute):
        try:
            portable = pickle.dumps(content)
            copy = _restored(portable)
        except Exception:  # noqa: S112 - the next way is tried
            continue
        if type(copy) is type(error) and str(copy) == str(error):
            return portable
    return pickle.dumps(substitute)


def _restored(portable: bytes) -> BaseException:
    content = pickle.loads(portable)  # noqa: S301 - from our own worker
    if isinstance(content, BaseException):
        return content
    kind, arguments, state = content
    error: BaseException = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error
