"""The studio's server: what it answers, and what it refuses without coming to harm."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from fabkit.sets.library import shipped_names
from tests.support.studios import RunningStudio, running
from tests.support.waiting import wait_until

CUT = '[set]\nname = "mine"\nlattice = "square"\nmoves = "rotations"\n\n[cut]\nrows = ["AAB", "ABB"]\n'


@pytest.fixture
def emptied(studio: RunningStudio) -> RunningStudio:
    """The studio, without any file in its working folder."""
    for path in studio.folder.iterdir():
        path.unlink()
    return studio


def read(studio: RunningStudio, text: str) -> Any:
    return studio.call("read", project={"name": "mine.toml", "text": text})


def is_alive(studio: RunningStudio) -> bool:
    return bool(read(studio, CUT)["shapes"]["area"] == 6)


# --- what it answers --------------------------------------------------------------------------


def test_the_page_and_all_that_it_names_are_there(studio: RunningStudio) -> None:
    status, headers, page = studio.get("")
    assert status == 200
    assert headers["content-type"].startswith("text/html")
    named = {*re.findall('(?:src|href)="(.*?)"', page.decode())}
    assert {"studio.js", "fabkit.css", "data.js"} <= named
    for name in (*named, "play-grid.js", "viewer-scene.js"):
        assert studio.get(name)[0] == 200, name
    assert "http" not in page.decode().replace("http-equiv", "")


@pytest.mark.in_turn
@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_set_is_read(studio: RunningStudio, name: str) -> None:
    answer = studio.call("read", project=studio.project(name))
    assert answer["faults"] == []
    assert answer["shapes"]["pieces"]
    assert all(thing["cells"] for thing in answer["things"])


def test_errors_have_their_places(studio: RunningStudio) -> None:
    text = CUT.replace('"AAB"', '"A?B"') + '[[board]]\nid = "b"\nsize = [0, 3]\n'
    faults = read(studio, text)["faults"]
    assert [fault["key"] for fault in faults] == ["cut.rows[0]", "board[0].size"]
    assert [text.splitlines()[fault["line"] - 1][:4] for fault in faults] == ["rows", "size"]


def test_a_command_edits_the_text_and_keeps_comments(studio: RunningStudio) -> None:
    project = {"name": "mine.toml", "text": "# mine\n" + CUT}
    thing = {"kind": "cut", "index": 0}
    colour = {"thing": thing, "key": "colour", "letter": "A", "value": "#112233"}
    answer = studio.call("edit", project=project, command="set", arguments=colour)
    assert answer["text"] == f'{project["text"]}colours = {{ A = "#112233" }}\n'
    assert answer["shapes"]["pieces"][0]["colour"] == "#112233"
    assert [thing["kind"] for thing in answer["things"]] == ["cut"]


def test_solutions_are_counted_as_the_command_does(studio: RunningStudio) -> None:
    events = list(studio.stream("solve", project=studio.project("pentominoes")))
    solution = next(event["solution"] for event in events if "solution" in event)
    assert sum(map(len, solution.values())) == 2 * 60
    assert any("atLeast" in event for event in events)
    answer = events[-1]["result"]["answer"]
    assert (answer["count"], answer["upToSymmetry"]) == (9356, 2339)


def test_an_impossible_puzzle_says_why(studio: RunningStudio) -> None:
    project = {"name": "mine.toml", "text": CUT + '[[board]]\nid = "wide"\nsize = [2, 4]\n'}
    (*_, last) = studio.stream("solve", project=project, challenge="wide")
    assert last["result"]["answer"]["status"] == "impossible"
    assert "6" in last["result"]["answer"]["reason"]


@pytest.mark.integration
def test_a_new_count_replaces_the_one_before(studio: RunningStudio) -> None:
    """The old one would take minutes."""
    project = studio.project("fridgeiq")
    long = studio.stream("solve", project=project, challenge="square_10")
    next(long)
    (*_, last) = studio.stream("solve", project={"name": "mine.toml", "text": CUT})
    assert last["result"]["answer"]["status"] == "solved"
    assert list(long)[-1] == {"stopped": True}


@pytest.mark.integration
def test_a_count_that_is_given_up_is_stopped(studio: RunningStudio) -> None:
    project = studio.project("fridgeiq")
    for _ in range(3):
        long = studio.stream("solve", project=project, challenge="square_10")
        next(long)
        long.close()  # type: ignore[attr-defined]
    assert is_alive(studio)
    (*_, last) = studio.stream("solve", project={"name": "mine.toml", "text": CUT})
    assert last["result"]["answer"]["count"] is not None


# --- files ------------------------------------------------------------------------------------


def test_files_are_written_where_they_are_saved(emptied: RunningStudio) -> None:
    assert list(emptied.folder.iterdir()) == []
    saved = emptied.call("save", name="mine.toml", text=CUT, known="")
    assert (emptied.folder / "mine.toml").read_text() == CUT
    assert emptied.call("files") == ["mine.toml"]
    assert emptied.call("open", name="mine.toml")["digest"] == saved["digest"]
    again = emptied.call("save", name="mine.toml", text=CUT + "# more\n", known=saved["digest"])
    assert again["digest"] != saved["digest"]
    (emptied.folder / "mine.toml").write_text("# by another program\n")
    refused = emptied.call("save", name="mine.toml", text=CUT, known=again["digest"])
    assert "changed by another program" in refused["error"]["text"]
    assert (emptied.folder / "mine.toml").read_text() == "# by another program\n"


OUTSIDE = [
    "../mine.toml",
    "/etc/passwd",
    "a/b.toml",
    "..",
    "mine",
    "mine.txt",
    "x\0.toml",
    "..\\m.toml",
]


def test_no_file_outside_the_folder_is_named(emptied: RunningStudio) -> None:
    secret = emptied.folder.parent / "mine.toml"
    secret.write_text("[set]\n# secret\n")
    for name in OUTSIDE:
        saved = emptied.call("save", name=name, text=CUT, known="")
        for answer in (emptied.call("open", name=name), saved):
            assert answer["error"]["text"].startswith("name: "), name
            assert "secret" not in str(answer)
    assert secret.read_text() == "[set]\n# secret\n"
    assert list(emptied.folder.iterdir()) == []


def test_links_are_not_followed(emptied: RunningStudio) -> None:
    secret = emptied.folder.parent / "secret.toml"
    secret.write_text("[set]\n# secret\n")
    (emptied.folder / "link.toml").symlink_to(secret)
    assert emptied.call("files") == []
    assert "is a link" in emptied.call("open", name="link.toml")["error"]["text"]
    assert "error" in emptied.call("save", name="link.toml", text=CUT, known="")
    assert secret.read_text() == "[set]\n# secret\n"


def test_drawings_of_a_set_are_read_from_its_folder_only(emptied: RunningStudio) -> None:
    (emptied.folder.parent / "secret.svg").write_text("<svg/>")
    text = CUT.split("[cut]", maxsplit=1)[0].replace("[set]", '[set]\nunit = "20 mm"')
    text += '[[piece]]\nid = "A"\nsvg = "../secret.svg"\n'
    assert [fault["key"] for fault in read(emptied, text)["faults"]] == ["piece[0].svg"]


def test_a_drawing_that_changes_meanwhile_is_read_again(emptied: RunningStudio) -> None:
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}mm" height="10mm" viewBox="0 0 {0} 10">'
    )
    drawing += '<path d="M0 0h{0}v10h-{0}z"/></svg>'
    text = CUT.split("[cut]", maxsplit=1)[0] + '[[piece]]\nid = "A"\nsvg = "piece.svg"\n'
    text = text.replace("lattice", 'unit = "10 mm"\nlattice')
    areas = []
    for wide in (20, 30):
        (emptied.folder / "piece.svg").write_text(drawing.format(wide))
        answer = read(emptied, text)
        areas.append(answer["shapes"]["area"] if "shapes" in answer else answer["faults"])
    assert areas == [2, 3]


def refusal_to_start(folder: Path, *options: str) -> str:
    """Return what another studio prints that cannot start."""
    command = [sys.executable, "-m", "fabkit", "studio", "--no-browser", *options]
    second = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert second.returncode == 3
    assert second.stderr.count("\n") == 1
    return second.stderr


def test_two_studios_in_one_folder_are_told(studio: RunningStudio) -> None:
    assert f"another studio is open in {studio.folder}" in refusal_to_start(studio.folder)


@pytest.mark.integration
@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_the_link_on_the_browsers_command_line_works_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" >{opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(browser))
    with running(tmp_path, browser=True) as studio:
        wait_until(opened.exists)
        link = opened.read_text().strip()
        path = link.removeprefix(f"http://{studio.host}")
        assert studio.root not in link
        status, headers, _ = studio.request("GET", path)
        assert (status, headers["location"]) == (303, studio.root)
        assert headers["cache-control"] == "no-store"
        assert studio.get("")[0] == 200
        status, _, body = studio.request("GET", path)
        assert status == 403
        assert b"used already" in body


def test_a_port_in_use_is_told(studio: RunningStudio, tmp_path_factory: Any) -> None:
    port = studio.host.split(":")[1]
    message = refusal_to_start(tmp_path_factory.mktemp("other"), "--port", port)
    assert f"cannot use the port {port}" in message
    assert "--port" in message


# --- attacks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "localhost"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
    ],
)
def test_other_hosts_and_other_sites_are_refused(
    studio: RunningStudio, headers: dict[str, str]
) -> None:
    for path in (studio.root, f"{studio.root}api/files"):
        status, answered, body = studio.request("POST", path, b"{}", **headers)
        assert status == 403
        assert len(json.loads(body)["error"]["text"].splitlines()) == 1
        assert "access-control-allow-origin" not in answered
    assert is_alive(studio)


@pytest.mark.parametrize(
    "path", ["/", "/api/files", "/wrong/", "/wrong/start.json", "//", "/start.json"]
)
def test_without_the_token_nothing_is_told(studio: RunningStudio, path: str) -> None:
    status, _, body = studio.request("GET", path)
    assert status == 403
    assert studio.root.strip("/") not in body.decode()


def test_its_own_origin_is_accepted(studio: RunningStudio) -> None:
    origin = f"http://{studio.host}"
    status, _, _ = studio.request("POST", f"{studio.root}api/files", b"{}", Origin=origin)
    assert status == 200


@pytest.mark.parametrize(
    "path",
    [
        "../pyproject.toml",
        "..%2fpyproject.toml",
        "%2e%2e/%2e%2e/etc/passwd",
        "made/../../etc/passwd",
        "made/..%2f..%2f..%2fetc/passwd",
        "made//etc/passwd",
        "vendor/../../server.py",
        "studio.js%00.css",
    ],
)
def test_no_path_leads_out(studio: RunningStudio, path: str) -> None:
    status, _, body = studio.get(path)
    assert status in (403, 404)
    assert len(json.loads(body)["error"]["text"].splitlines()) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"project": 5}',
        b'{"project": {}}',
        b'{"project": {"name": 1, "text": 2}}',
        b'{"project": {"name": "a.toml", "text": "", "layers": "x"}}',
        b'{"project": {"name": "a.toml", "text": ""}, "more": 1}',
        b'{"project": {"name": "a.toml", "text": ""}, "document": 7}',
        b'{"name": NaN}',
        b"\xff\xfe",
        b'{"a": ' + b"[" * 100_000,
    ],
    ids=range(13),
)
def test_malformed_requests_have_one_message(studio: RunningStudio, body: bytes) -> None:
    for name in ("read", "edit", "solve", "open", "save"):
        _, _, answer = studio.request("POST", f"{studio.root}api/{name}", body)
        error = json.loads(answer.splitlines()[-1])["error"]
        assert error["text"]
        assert "Traceback" not in error["text"]
    assert is_alive(studio)


def test_unknown_calls_are_refused(studio: RunningStudio) -> None:
    assert "no such call" in studio.call("eval", code="1")["error"]["text"]
    assert "no such call" in studio.call("__init__")["error"]["text"]


def test_a_body_of_100_mb_is_refused(studio: RunningStudio) -> None:
    with suppress(ConnectionError):  # it need not read to the end
        status, _, body = studio.request("POST", f"{studio.root}api/read", b" " * 100_000_000)
        assert status == 413
        assert "larger than 16 MiB" in json.loads(body)["error"]["text"]
    assert is_alive(studio)


LIMITS = {
    "pieces": "".join(f'[[piece]]\nid = "p{i}"\nrows = ["X"]\n' for i in range(1100)),
    "side": '[[board]]\nid = "b"\nsize = [101, 1]\n',
    "rows": '[[piece]]\nid = "p"\nrows = ["' + "X" * 101 + '"]\n',
    "copies": '[[piece]]\nid = "p"\ncount = 1001\nrows = ["X"]\n',
    "boards": "".join(f'[[board]]\nid = "b{i}"\nsize = [100, 100]\n' for i in range(30)),
    "depth": "x = " + "[" * 1000 + "]" * 1000 + "\n",
    "keys": ".".join(["a"] * 1000) + " = 1\n",
    "digits": "x = " + "9" * 10_000 + "\n",
    "unknown": "".join(f"key{i} = 1\n" for i in range(1000)),
}


LIMITS["all"] = "".join(LIMITS[name] for name in ("pieces", "boards", "copies", "side"))


@pytest.mark.parametrize("name", LIMITS)
def test_a_set_beyond_the_limits_is_refused(studio: RunningStudio, name: str) -> None:
    answer = read(studio, CUT.replace("[cut]", LIMITS[name] + "[cut]"))
    assert 0 < len(answer["faults"]) <= 50
    assert "shapes" not in answer
    assert is_alive(studio)


@pytest.mark.integration
def test_ten_thousand_requests_leave_it_alive(studio: RunningStudio) -> None:
    """All of them on one connection, which stays open, and nothing else does."""
    connection = HTTPConnection(studio.host, timeout=60)
    open_before: set[int] = set()
    for number in range(10_000):
        connection.request("GET", f"{studio.root}{'icon.svg' if number % 2 else 'nothing'}")
        response = connection.getresponse()
        response.read()
        assert response.status == (200 if number % 2 else 404)
        open_before = open_before or _open_files(studio)
    assert _open_files(studio) == open_before
    connection.close()
    assert is_alive(studio)


def test_many_at_once_are_turned_away_not_kept(studio: RunningStudio) -> None:
    """Each of a hundred clients begins a request and never ends it."""
    host, port = studio.host.split(":")
    with ExitStack() as begun:
        for _ in range(100):
            client = begun.enter_context(socket.create_connection((host, int(port)), timeout=10))
            start = f"POST {studio.root}api/read HTTP/1.1\r\nHost: {studio.host}\r\n"
            client.sendall(start.encode())
        wait_until(lambda: studio.get("icon.svg")[0] == 503)
    wait_until(lambda: studio.get("icon.svg")[0] == 200)
    assert is_alive(studio)


# --- its end ----------------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_killed_at_any_moment_no_file_is_half_written(tmp_path: Path) -> None:
    """Each time while it writes the file anew."""
    texts = {CUT + "# x\n" * 200_000, CUT + "# y\n" * 200_000}
    file = tmp_path / "mine.toml"
    for later_s in (0.0, 0.001, 0.002, 0.004, 0.008):
        left = {*tmp_path.iterdir(), file}
        with running(tmp_path) as studio:
            saver = subprocess.Popen(
                [sys.executable, "-c", _SAVER, studio.url], cwd=tmp_path, stderr=subprocess.DEVNULL
            )
            wait_until(file.exists)
            while {*tmp_path.iterdir()} <= left:  # what is being written has another name
                assert saver.poll() is None
            time.sleep(later_s)
            studio.process.send_signal(signal.SIGKILL)
            studio.process.wait()
            saver.wait()
        assert file.read_text() in texts
        file.unlink()


@pytest.mark.integration
@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_the_next_studio_removes_what_a_killed_one_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = tmp_path / "mine"
    folder.mkdir()
    rooms: list[set[Path]] = []
    for _ in range(2):
        with running(folder) as studio:
            rooms.append({path for path in tmp_path.glob("*/*") if path.is_dir()})
            studio.process.kill()
            studio.process.wait()
    assert len(rooms[0]) == len(rooms[1]) == 1
    assert rooms[0].isdisjoint(rooms[1])


_SAVER = f"""
import json, sys, urllib.request
known = ""
for number in range(1000):
    text = {CUT!r} + ("# x\\n", "# y\\n")[number % 2] * 200_000
    body = json.dumps(dict(name="mine.toml", text=text, known=known)).encode()
    request = urllib.request.Request(sys.argv[1] + "api/save", body)
    known = json.load(urllib.request.urlopen(request))["digest"]
"""


@pytest.mark.integration
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_and_its_processes(tmp_path: Path, number: int, code: int) -> None:
    """They start with the page; a studio that nobody opens needs none."""
    with running(tmp_path) as studio:
        assert is_alive(studio)
        assert _children(studio.process.pid) == []
        assert studio.get("")[0] == 200
        long = studio.stream("solve", project=studio.project("fridgeiq"), challenge="square_10")
        next(long)
        group = _children(studio.process.pid)
        commands = [Path(f"/proc/{child}/cmdline").read_bytes() for child in group]
        assert sum(b"child_main" in command for command in commands) == 2
        studio.process.send_signal(number)
        assert studio.process.wait(60) == code
        wait_until(lambda: not any(map(_is_running, group)))


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def _open_files(studio: RunningStudio) -> set[int]:
    """The numbers of the files and connections that it has open, where the system says so."""
    folder = Path(f"/proc/{studio.process.pid}/fd")
    return {int(path.name) for path in folder.iterdir()} if folder.is_dir() else set()


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- what a request cannot reach --------------------------------------------------------------


def test_a_project_is_of_this_folder(studio: RunningStudio) -> None:
    for name in ("../mine.toml", "/etc/passwd"):
        answer = studio.call("read", project={"name": name, "text": CUT})
        assert answer["error"]["text"].startswith("name: ")
        project = {"name": "mine.toml", "text": CUT, "layers": [name]}
        layers = studio.call("profile", project=project)
        assert "not in this folder" in layers["error"]["text"]


@pytest.mark.parametrize("value", ["1979-05-27", "nan", "inf", "07:32:00"])
def test_values_that_json_lacks_are_errors_of_the_file(studio: RunningStudio, value: str) -> None:
    answer = read(studio, f"x = {value}\n{CUT}")
    assert len(answer["faults"]) == 1
    assert answer["things"] == []


@pytest.mark.parametrize("path", ["made/%00", "made/" + "a" * 5000, "made/meshes/x.html"])
def test_odd_paths_are_not_there(studio: RunningStudio, path: str) -> None:
    assert studio.get(path)[0] == 404


@pytest.mark.parametrize("name", ["evil.html", "evil.js", "mesh"])
def test_only_meshes_are_kept(studio: RunningStudio, name: str) -> None:
    status, _, body = studio.request("POST", f"{studio.root}meshes/{name}", b"<b>")
    assert status == 400
    assert "expected a mesh" in json.loads(body)["error"]["text"]


def test_names_with_spaces_are_files_too(emptied: RunningStudio) -> None:
    emptied.call("save", name="My puzzle.toml", text=CUT, known="")
    assert emptied.call("open", name="My puzzle.toml")["text"] == CUT
