"""Signals that are held: none is lost, none is delivered to a run that nobody stopped."""

# ruff: noqa: PT012 - what is raised comes at the end of the block

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fabkit.core.files import Staging
from fabkit.core.signals import Signals

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


def test_two_signals_stop_one_run() -> None:
    signals = Signals()
    with pytest.raises(KeyboardInterrupt), signals.held():
        signal.raise_signal(INT)
        signal.raise_signal(INT)
    assert as_usual()
    with signals.held():
        pass


def disturbed(
    name: str, call: Callable[..., Any], times: int, number: int, patch: pytest.MonkeyPatch
) -> None:
    """Sends a signal behind the nth call of a function of the module signal."""
    count = 0

    def calls(*arguments: Any) -> Any:
        nonlocal count
        result = call(*arguments)
        count += 1
        if count == times:
            signal.raise_signal(number)
        return result

    patch.setattr(f"fabkit.core.signals.signal.{name}", calls)


@pytest.mark.parametrize("number", [INT, TERM])
@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["signal", "getsignal"])
def test_one_that_comes_while_handlers_are_exchanged(
    name: str, times: int, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals, inside = Signals(), []
    with monkeypatch.context() as patch:
        disturbed(name, getattr(signal, name), times, number, patch)
        with pytest.raises(KeyboardInterrupt), signals.held():
            inside.append(True)
    with pytest.raises(KeyboardInterrupt):  # Ctrl-C still works
        signal.raise_signal(INT)
    with signals.held():
        inside.append(True)
    assert inside
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


def test_one_holds_in_another() -> None:
    told = []
    with pytest.raises(KeyboardInterrupt), Signals().held():
        with Signals().held():
            signal.raise_signal(INT)
            told.append("inner")
        told.append("outer")
    assert told == ["inner", "outer"]
    assert as_usual()


def test_it_wakes_and_is_handled_when_asked() -> None:
    signals, told = Signals(), []
    with pytest.raises(KeyboardInterrupt), signals.held(wake=lambda: told.append("woken")):
        signal.raise_signal(TERM)
        told.append("asked")
        signals.handle()
        told.append("never")
    assert told == ["woken", "asked"]


def test_a_signal_without_a_handler_of_python_is_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[int] = []
    signal.signal(TERM, signal.SIG_DFL)
    with Signals().held():
        signal.raise_signal(TERM)
        monkeypatch.setattr("fabkit.core.signals.signal.raise_signal", sent.append)
    assert sent == [TERM]
    assert signal.getsignal(TERM) is signal.SIG_DFL


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
