"""The server of the studio: routes that call what the commands call, for this machine's user only.

Every address begins with a secret, which only the link that the terminal prints contains; requests
that name another host, or come from another site, are refused.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope
from starlette.types import Send as SendMessage

from fabkit.core.errors import ExternalError, FabkitError, InputError, escape
from fabkit.core.hashes import digest
from fabkit.core.parsing import parse_json
from fabkit.core.staging import (
    external_errors,
    folder_lock,
    remove_staged,
    temporary_folder,
    write_atomically,
)
from fabkit.profiles.profile_file import layer_names
from fabkit.studio.commands import edit
from fabkit.studio.drawing import read_project
from fabkit.studio.files import MESHES, WorkingFolder, mesh_path, new_file
from fabkit.studio.pages import MEDIA_TYPES, POLICY, start_document, studio_files
from fabkit.studio.printing import profile, profile_file
from fabkit.studio.project import Event, call_checked
from fabkit.studio.workers import FAILED, POLITE_S, Worker, error_document

#: The largest body of a request.
_MAX_BYTES = 16 * 2**20
#: The longest path of a file that was made.
_LONGEST_PATH = 200
#: The largest mesh that the browser can send.
_MAX_MESH_BYTES = 64 * 2**20
#: Requests that are answered at the same time; more are turned away.
_MAX_REQUESTS = 64
#: Long jobs that run at the same time.
_MAX_JOBS = 2

#: The calls of the browser that take long, by name: the process that makes them, and the function.
#: Calls in a warm process replace the one before; each job gets a process of its own.
SOLVING = "solving"
SOLIDS = "solids"
JOB = "job"
CALLS = {
    "solve": (SOLVING, "fabkit.studio.drawing:solve"),
    "solids": (SOLIDS, "fabkit.studio.printing:solids"),
    "plates": (SOLIDS, "fabkit.studio.printing:plates"),
    "assembled": (SOLIDS, "fabkit.studio.printing:assembled"),
    "section": (SOLIDS, "fabkit.studio.printing:section"),
    "make": (JOB, "fabkit.studio.printing:files"),
    "check": (JOB, "fabkit.studio.printing:check"),
    "challenges": (JOB, "fabkit.studio.playing:challenges"),
    "generate": (JOB, "fabkit.studio.playing:generate"),
}
#: What the warm processes import before their first call.
_WARM = {
    SOLVING: ("fabkit.studio.drawing", "fabkit.solve.answer", "fabkit.solve.difficulty"),
    SOLIDS: ("fabkit.studio.printing", "fabkit.build.slicing", "fabkit.solid.export"),
}
#: How long a call may take to stop: a step of the CAD kernel reports no progress, and the solids
#: that are kept would be lost with its process.
_POLITE_S = {SOLVING: POLITE_S, SOLIDS: 10.0}


def start_worker(name: str) -> Worker:
    """Start a warm process: `SOLVING` or `SOLIDS`."""
    return Worker(_WARM[name], _POLITE_S[name])


@dataclass
class Studio:
    """What the routes share.

    Attributes:
        folder: the working folder.
        room: a folder for files that are made for the browser; it goes when the studio ends.
        start: the set to open first, as in a command; empty for a new one.
        layers, settings: the profile to begin with, as with ``-p`` and ``-s``.
        token: the secret with which every address begins.
        once: a secret that leads there once, for the browser's command line, which other users see.
    """

    folder: WorkingFolder
    room: Path
    start: str = ""
    layers: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    once: str = field(default_factory=lambda: secrets.token_urlsafe(18))
    workers: dict[str, Worker] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._jobs = anyio.CapacityLimiter(_MAX_JOBS)

    def worker(self, name: str) -> Worker:
        """Return a warm process, which starts when it is first asked for."""
        if name not in self.workers:
            self.workers[name] = start_worker(name)
        return self.workers[name]

    def close(self) -> None:
        """End all processes."""
        for worker in self.workers.values():
            worker.close()

    def arguments(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call: those of the browser, whose project is in this folder."""
        arguments = dict(document)
        project = arguments.get("project")
        if isinstance(project, dict):
            if isinstance(project.get("name"), str):
                self.folder.path_of(project["name"])
            layers = project.get("layers", ())
            for layer in map(str, layers if isinstance(layers, list) else ()):
                if layer in self.layers or layer in layer_names():
                    continue
                if Path(layer).parent.resolve() != self.folder.path:
                    raise InputError.of("request", "names a profile that is not in this folder")
                self.folder.path_of(Path(layer).name)
            folders = {"folder": self.folder.path, "room": self.room}
            arguments["project"] = {**project, **folders}
        return arguments

    async def call(
        self, name: str, send: Callable[[Event], Awaitable[None]], arguments: dict[str, Any]
    ) -> Event:
        """Make a call for the browser; return its last event."""
        place, function = CALLS[name]
        if place != JOB:
            worker = self.worker(place)
            worker.stop()
            return await worker.call(send, function, arguments)
        if not self._jobs.available_tokens:
            message = f"{_MAX_JOBS} other jobs are running; wait for one, or stop it"
            return {"error": error_document(ExternalError(message))}
        async with self._jobs:
            worker = Worker()
            try:
                return await worker.call(send, function, arguments)
            finally:
                worker.close()


class _Guard:
    """Turns away requests that do not come from the studio's own page."""

    def __init__(self, app: ASGIApp, studio: Studio, hosts: frozenset[str]) -> None:
        self._app, self._hosts = app, hosts
        self._token, self._once = studio.token.encode(), studio.once.encode()
        self._is_used = False

    async def __call__(self, scope: Scope, receive: Receive, send: SendMessage) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = {
            key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]
        }

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        origin = headers.get("origin")
        begin, _, rest = scope["path"].removeprefix("/").partition("/")
        secret = begin.encode()
        refusal = ""
        if headers.get("host", "") not in self._hosts:
            refusal = "this address is not the studio's; open the link that the terminal shows"
        elif origin is not None and origin.removeprefix("http://") not in self._hosts:
            refusal = "another site asked for this; open the link that the terminal shows"
        elif secrets.compare_digest(secret, self._once):
            if not self._is_used:
                self._is_used = True
                link = RedirectResponse(f"/{self._token.decode()}/", 303)
                return await link(scope, receive, send_with_headers)
            refusal = (
                "this link has been used already; open the one that the terminal shows, and if "
                "nobody but another user of this machine can have opened it, end the studio"
            )
        elif not secrets.compare_digest(secret, self._token):
            refusal = "the link is incomplete; open the one that the terminal shows"
        if refusal:
            return await PlainError(refusal, 403)(scope, receive, send_with_headers)
        inner = dict(scope, path=f"/{rest}", raw_path=f"/{rest}".encode())
        return await self._app(inner, receive, send_with_headers)


#: Headers of all answers: nothing is kept, framed elsewhere or sent elsewhere.
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", f"{POLICY}; frame-ancestors 'self'".encode()),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]


class PlainError(JSONResponse):
    """One message, for people and scripts."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__({"error": {"text": text, "details": []}}, status)


class _EventStream(Response):
    """The events of a call, one JSON document a line, as they happen; it stops with the request."""

    def __init__(self, studio: Studio, name: str, arguments: dict[str, Any]) -> None:
        super().__init__(media_type="application/x-ndjson")
        self._studio, self._name, self._arguments = studio, name, arguments

    async def __call__(self, scope: Scope, receive: Receive, send: SendMessage) -> None:
        # The length of the answer is not known.
        headers = [(key, value) for key, value in self.raw_headers if key != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

        async def pass_on(event: Event) -> None:
            if event:
                body = json.dumps(event, separators=(",", ":")).encode() + b"\n"
                await send({"type": "http.response.body", "body": body, "more_body": True})

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await pass_on(await self._studio.call(self._name, pass_on, self._arguments))
            group.cancel_scope.cancel()
        await send({"type": "http.response.body", "body": b""})


async def _body(request: Request, maximum: int) -> bytes:
    """Read the body of a request, of so many bytes at most."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > maximum:
            raise _TooLargeError(f"is larger than {maximum // 2**20} MiB")
    return bytes(content)


class _TooLargeError(FabkitError):
    """The body of a request is too large."""


#: The calls of the browser that are answered at once, in a thread.
ANSWERS: dict[str, Callable[..., Any]] = {
    "read": read_project,
    "edit": edit,
    "open": WorkingFolder.read,
    "save": WorkingFolder.save,
    "files": WorkingFolder.names,
    "profile": profile,
    "profile-file": profile_file,
    "new": new_file,
}


def application(studio: Studio, hosts: frozenset[str]) -> ASGIApp:
    """Return the studio as an ASGI application that answers to some host names, with their port."""
    files = studio_files()

    async def static(request: Request) -> Response:
        name = request.path_params["name"] or "index.html"
        if name == "index.html":
            for process in _WARM:  # so that they are ready when the page is
                studio.worker(process)
        if name == "start.json":
            start = studio.start, studio.layers, studio.settings
            return JSONResponse(await to_thread.run_sync(start_document, studio.folder, *start))
        if name not in files:
            return PlainError("there is no such file", 404)
        kind = MEDIA_TYPES.get(Path(name).suffix, "application/octet-stream")
        return Response(files[name], media_type=kind)

    async def made(request: Request) -> Response:
        name = request.path_params["name"]
        path = studio.room / name
        # Meshes were sent, not made.
        is_made = name.isprintable() and len(name) < _LONGEST_PATH and name.split("/")[0] != MESHES
        is_made = is_made and path.resolve().is_relative_to(studio.room.resolve())
        if not is_made or not path.is_file():
            gone = "there is no such file; it may have been made by an earlier studio"
            return PlainError(gone, 404)
        download = "download" in request.query_params
        kind = MEDIA_TYPES.get(path.suffix, "application/octet-stream")
        return FileResponse(path, media_type=kind, filename=path.name if download else None)

    async def answer(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ANSWERS and name not in CALLS:
            return PlainError("there is no such call", 404)
        body = await _body(request, _MAX_BYTES)
        try:
            arguments = studio.arguments(parse_json(body.decode(), "request"))
        except UnicodeDecodeError:
            raise InputError.of("request", "is not UTF-8 text") from None
        if name in CALLS:
            return _EventStream(studio, name, arguments)
        function = ANSWERS[name]
        if function.__qualname__.startswith(WorkingFolder.__name__):
            function = function.__get__(studio.folder)
        return JSONResponse(await to_thread.run_sync(call_checked, function, arguments))

    async def keep_mesh(request: Request) -> Response:
        path = mesh_path(studio.room, request.path_params["name"])
        content = await _body(request, _MAX_MESH_BYTES)
        await to_thread.run_sync(write_atomically, path, content)
        return JSONResponse({})

    def failed(_: Request, error: Exception) -> Response:
        if isinstance(error, (InputError, ExternalError)):
            return JSONResponse({"error": error_document(error)}, 400)
        if isinstance(error, _TooLargeError):
            return PlainError(f"the request {error}", 413)
        return PlainError(FAILED, 500)  # the server prints how

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        try:
            yield
        finally:
            studio.close()

    routes = [
        Route("/api/{name}", answer, methods=["POST"]),
        Route("/meshes/{name}", keep_mesh, methods=["POST"]),
        Route("/made/{name:path}", made),
        Route("/{name:path}", static),
    ]
    handlers = {FabkitError: failed, Exception: failed}
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    return _Guard(app, studio, hosts)


def open_socket(port: int) -> socket.socket:
    """Return a socket on the loopback interface; port 0 is any free one.

    Raises:
        ExternalError: when the port is in use.
    """
    # Only to sockets that name their protocol does asyncio send small answers at once.
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        reason = f"cannot use the port {port}: {error.strerror}"
        raise ExternalError(f"{reason}; choose another with --port") from None
    return listener


@contextmanager
def _only_one(folder: Path) -> Iterator[Path]:
    """Refuse a second studio on a folder: each would overwrite the files of the other.

    Yields:
        The room, without what a studio that was killed has left there.
    """
    user = os.getuid() if hasattr(os, "getuid") else ""
    own = Path(tempfile.gettempdir()) / f"fabkit-studio-{user}-{digest(str(folder))[:16]}"
    with external_errors(f"cannot use the folder {escape(str(own))}"):
        own.mkdir(mode=0o700, exist_ok=True)
        if user != "" and own.lstat().st_uid != user:
            raise PermissionError(errno.EPERM, "it belongs to another user")
    with folder_lock(own, "use that one, or end it first", "another studio is open in", folder):
        remove_staged(own)
        try:
            with temporary_folder(own) as room:
                yield room
        finally:
            shutil.rmtree(own, ignore_errors=True)


class _Server(uvicorn.Server):
    # Signals end the command, as any other.
    capture_signals = nullcontext  # type: ignore[assignment]


def run(
    folder: Path,
    start: str,
    layers: tuple[str, ...],
    settings: Mapping[str, str],
    port: int,
    announce: Callable[[str, str], None],
) -> None:
    """Run the studio until it is interrupted.

    Args:
        announce: called with the link once the studio can be opened, and with one to use once.
    """
    with _only_one(folder) as room, open_socket(port) as listener:
        studio = Studio(WorkingFolder(folder), room, start, layers, settings)
        number = listener.getsockname()[1]
        hosts = frozenset({f"127.0.0.1:{number}", f"localhost:{number}"})
        config = uvicorn.Config(
            application(studio, hosts),
            log_level="error",
            access_log=False,
            limit_concurrency=_MAX_REQUESTS,
            server_header=False,
            ws="none",
            lifespan="on",
        )
        server = _Server(config)
        listener.listen()
        site = f"http://127.0.0.1:{number}"
        announce(f"{site}/{studio.token}/", f"{site}/{studio.once}/")
        server.run(sockets=[listener])
