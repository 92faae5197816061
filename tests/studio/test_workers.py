"""The warm processes of the studio."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest

from fabkit.sets.library import shipped_folder
from fabkit.studio.project import Event
from tests.support.pairset import PAIR


async def ignore(_: Event) -> None:
    """Take an event of a call."""


def run_apart(function: Callable[[], Awaitable[None]]) -> None:
    """Run an event loop in a thread of its own: where a browser is driven, this thread has one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, function).result()


def arguments_of(name: str, text: str) -> dict[str, Any]:
    """The arguments of a call about a set file."""
    return {"project": {"name": name, "text": text, "folder": Path(), "room": Path()}}


def test_calls_that_are_replaced_while_their_process_starts_leave_it_alone() -> None:
    """Else it would never become warm where changes follow each other."""
    from fabkit.studio.server import SOLVING, start_worker

    text = (shipped_folder() / "iqblock.toml").read_text(encoding="utf-8")
    arguments = arguments_of("iqblock.toml", text)

    async def call_often() -> None:
        worker = start_worker(SOLVING)
        try:
            pid = worker.pid
            for _ in range(5):
                with anyio.move_on_after(0.01):
                    await worker.call(ignore, "fabkit.studio.drawing:solve", arguments)
            last = await worker.call(ignore, "fabkit.studio.drawing:solve", arguments)
            assert last["result"]["answer"]["status"] == "solved"
            assert worker.pid == pid
        finally:
            worker.close()

    run_apart(call_often)


@pytest.mark.integration
def test_a_change_while_plates_are_laid_out_keeps_their_process() -> None:
    """Else the solids that are kept would be lost. So many pieces outlast what the call may take."""
    from fabkit.studio.workers import Worker

    text = (shipped_folder() / "fridgeiq.toml").read_text(encoding="utf-8")
    pieces, _, _ = text.partition("[[ch")
    many = pieces.replace("[[piece]]", "[[piece]]\ncount = 8").replace("\narea = 40\n", "\n")

    async def stop_and_call_again() -> None:
        worker = Worker(polite_s=4.0)  # laying them out takes longer, also on a fast machine

        async def stop(event: Event) -> None:
            if "progress" in event:
                worker.stop()

        try:
            pid = worker.pid
            plates = "fabkit.studio.printing:plates"
            last = await worker.call(stop, plates, arguments_of("fridgeiq.toml", many))
            assert last == {"stopped": True}
            last = await worker.call(ignore, plates, arguments_of("pair.toml", PAIR))
            ((*placed,),) = last["result"]["plates"]
            assert sorted(name for name, _ in placed) == ["P", "Q"]
            assert worker.pid == pid
        finally:
            worker.close()

    run_apart(stop_and_call_again)
