"""A studio that runs as a command does, and calls to it as from its page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

#: No answer takes longer.
_TIMEOUT_S = 120.0


class RunningStudio:
    """A studio at work.

    Attributes:
        url: the link that it prints.
        folder: its working folder.
    """

    def __init__(self, url: str, folder: Path, process: subprocess.Popen[str]) -> None:
        self.url, self.folder, self.process = url, folder, process
        self.host = urlsplit(url).netloc
        self.root = urlsplit(url).path

    def request(
        self, method: str, path: str, body: bytes = b"", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """The status, headers and body that answer a request for any path."""
        connection = HTTPConnection(self.host, timeout=_TIMEOUT_S)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def get(self, name: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """What answers a request for one of the studio's own files."""
        return self.request("GET", self.root + name, b"", **headers)

    def call(self, name: str, /, **arguments: Any) -> Any:
        """The document that answers a call, also one with an error."""
        _, _, body = self.request("POST", f"{self.root}api/{name}", json.dumps(arguments).encode())
        return json.loads(body)

    def stream(self, name: str, /, **arguments: Any) -> Iterator[dict[str, Any]]:
        """The events of a call, as they arrive; given up with the iterator."""
        connection = HTTPConnection(self.host, timeout=_TIMEOUT_S)
        try:
            connection.request("POST", f"{self.root}api/{name}", json.dumps(arguments).encode())
            for line in connection.getresponse():
                yield json.loads(line)
        finally:
            connection.close()

    def project(self, name: str) -> dict[str, Any]:
        """A shipped set, or a file of the working folder, as the page sends it."""
        opened = self.call("open", name=name)
        return {"name": opened["name"], "text": opened["text"]}


@contextmanager
def running(folder: Path, *arguments: str, browser: bool = False) -> Iterator[RunningStudio]:
    """A studio whose working folder is the given one."""
    command = [sys.executable, "-m", "fabkit", "studio", "--json", *arguments]
    command += [] if browser else ["--no-browser"]
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, stdout=pipe, text=True, env=environment)
    try:
        assert process.stdout is not None
        document = json.loads("".join(iter(process.stdout.readline, "}\n")) + "}")
        yield RunningStudio(document["url"], folder, process)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
