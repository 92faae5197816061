"""Signals that are held: none is lost, none reaches a run that nobody stopped."""

# ruff: noqa: PT012 - what is raised comes at the end of the block

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.signals import defer_signals
from fabkit.core.staging import Staging

INT, TERM = signal.SIGINT, signal.SIGTERM


@pytest.fixture(autouse=True)
def usual_handlers() -> Iterator[None]:
    before = {one: signal.getsignal(one) for one in (INT, TERM)}
    for one in before:
        signal.signal(one, signal.default_int_handler)
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


def as_usual() -> bool:
    return all(signal.getsignal(one) is signal.default_int_handler for one in (INT, TERM))


def test_one_holds_in_another_and_two_signals_stop_one_run() -> None:
    received = []
    with pytest.raises(KeyboardInterrupt), defer_signals():
        with defer_signals():
            signal.raise_signal(INT)
            signal.raise_signal(INT)
            received.append("inner")
        received.append("outer")
    assert received == ["inner", "outer"]
    assert as_usual()
    with defer_signals():
        pass


def test_a_signal_wins_over_a_failure() -> None:
    with pytest.raises(KeyboardInterrupt), defer_signals():
        signal.raise_signal(TERM)
        raise ValueError("broken")
    assert as_usual()


def test_what_is_switched_off_stays_so() -> None:
    signal.signal(INT, signal.SIG_IGN)
    with defer_signals():
        signal.raise_signal(INT)
    assert signal.getsignal(INT) is signal.SIG_IGN


@pytest.mark.parametrize(("number", "times"), [(INT, 1), (TERM, 2), (INT, 4), (TERM, 5)])
def test_one_that_comes_while_handlers_are_exchanged(
    number: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the nth exchange: the first ones put handlers in, the last take them out."""
    usual: Callable[..., Any] = signal.signal
    count = 0

    def exchange(*arguments: Any) -> Any:
        nonlocal count
        result = usual(*arguments)
        count += 1
        if count == times:
            signal.raise_signal(number)
        return result

    with monkeypatch.context() as patch:
        patch.setattr("fabkit.core.signals.signal.signal", exchange)
        with pytest.raises(KeyboardInterrupt), defer_signals():
            pass
    assert as_usual()


def test_ctrl_c_while_files_are_moved_stops_when_all_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = Path.replace

    def replace(path: Path, target: Path) -> Path:
        signal.raise_signal(INT)
        return usual(path, target)

    (tmp_path / "out").mkdir()
    with Staging(tmp_path / "out") as staging:
        for name in "ab":
            staging.path(name).write_text(name)
        monkeypatch.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            staging.commit()
    assert [(tmp_path / "out" / name).read_text() for name in "ab"] == ["a", "b"]
