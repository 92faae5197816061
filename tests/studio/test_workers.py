"""The warm processes of the studio."""

from __future__ import annotations

from pathlib import Path

import anyio

from fabkit.model.library import shipped_folder
from fabkit.studio.project import Event


def test_calls_that_are_replaced_while_their_process_starts_leave_it_alone() -> None:
    """Else it would never become warm where changes follow each other."""
    from fabkit.studio.server import SOLVING, start_worker

    text = (shipped_folder() / "iqblock.toml").read_text(encoding="utf-8")
    arguments = {"project": {"name": "iqblock.toml", "text": text, "folder": Path()}}

    async def ignore(_: Event) -> None:
        pass

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

    anyio.run(call_often)
