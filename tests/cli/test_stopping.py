"""Ctrl-C and polite kills: the command ends at once, says so in one line, and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tasks import tagged

#: Nearly all end within half a second; a busy machine takes longer.
LIMIT_S = 5.0
#: A kernel is compiled to its end first: that takes two seconds at most, and longer then.
COMPILING_LIMIT_S = 15.0
STOPPED = "fabkit: stopped; no file is half-written"
#: The command, with a line of progress as soon as it is at work.
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a test run may have switched off
from fabkit.cli import main, report
report._SECONDS_BETWEEN_LINES = 0.1
{before}
raise SystemExit(main())
"""


class Running:
    """A command in a separate process, started as from a terminal."""

    def __init__(self, folder: Path, arguments: list[str], before: str = "", **env: str) -> None:
        self.tag = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND.format(before=before), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, **env, "FABKIT_TEST_TAG": self.tag},
            start_new_session=True,
        )
        self._output: tuple[str, ...] = ()

    def wait_for(self, text: str) -> None:
        """Reads standard error until a line holds these words."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if text in line:
                return
        pytest.fail(f"it ended before it printed {text!r}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> float:
        """Sends a signal to the whole group, as a terminal does; returns how long it took."""
        start = time.monotonic()
        os.killpg(self.process.pid, how)
        self.process.wait(timeout=60)
        return time.monotonic() - start

    def output(self) -> tuple[str, str]:
        """What it wrote to standard output and standard error, once it has ended."""
        if not self._output:
            self._output = self.process.communicate()
        return self._output[0], self._output[1]

    def check(self, seconds: float, limit_s: float = LIMIT_S, code: int = 130) -> None:
        """It ended at once, in one line, and left nothing at work."""
        out, err = self.output()
        assert [line for line in err.splitlines() if "% " not in line] == [STOPPED]
        assert self.process.returncode == code
        assert seconds < limit_s
        assert "{" not in out
        self.leaves_nothing()

    def leaves_nothing(self) -> None:
        """No process of it is left, or will be in a moment."""
        deadline = time.monotonic() + LIMIT_S
        while tagged(self.tag) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert tagged(self.tag) == []


@contextlib.contextmanager
def running(folder: Path, arguments: list[str], before: str = "", **env: str) -> Iterator[Running]:
    command = Running(folder, arguments, before, **env)
    try:
        yield command
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(command.process.pid, signal.SIGKILL)
        command.output()


FILES = ["--certificate", "new/c.json", "--cnf", "new/c.cnf", "--svg", "new/c.svg"]
WORK = {
    "search": ["fridgeiq", "square_10", "--count", "--engine", "search", "--json", *FILES],
    "count": ["fridgeiq", "square_10", "--count", "--engine", "count", "--json", *FILES],
    "sat": ["fridgeiq", "square_10", "--all", "--engine", "sat", *FILES],
    "cp-sat": ["fridgeiq", "square_10", "--all", "--engine", "cp-sat", *FILES],
    "mip": ["fridgeiq", "square_10", "--all", "--engine", "mip", *FILES],
    "chosen": ["fridgeiq", "square_10", "--count", "--json", *FILES],
    "starts": ["fridgeiq", "square_10", "--starts", "--json"],
}


@pytest.mark.every(4)
@pytest.mark.parametrize("what", WORK)
def test_ctrl_c_stops_a_search(what: str, tmp_path: Path) -> None:
    with running(tmp_path, ["solve", *WORK[what]]) as command:
        command.wait_for("% of the search")
        time.sleep(0.5)
        command.check(command.stop())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.integration
def test_an_engine_does_not_outlive_a_killed_command(tmp_path: Path) -> None:
    with running(tmp_path, ["solve", *WORK["sat"]]) as command:
        command.wait_for("% of the search")
        command.process.kill()
        command.process.wait()
        command.leaves_nothing()


@pytest.mark.integration
def test_ctrl_c_stops_the_making_of_a_certificate(tmp_path: Path) -> None:
    """The answer has been printed by then."""
    endless = "import fabkit.solve.certificate; fabkit.solve.certificate.MAX_COUNT_NODES = 10**15"
    arguments = ["solve", "iqfit", "--count", "--certificate", "new/c.json"]
    with running(tmp_path, arguments, endless) as command:
        command.wait_for("% of the proof")
        seconds = command.stop()
        assert command.process.stdout is not None
        assert command.process.stdout.readline().startswith("board: 301,350 solutions")
        command.check(seconds)
    assert list(tmp_path.iterdir()) == []


# --- while kernels are compiled
# ---------------------------------------------------------------------

#: Tells when numba begins to compile.
TELLING = """
from fabkit.core import kernels
usual = kernels.Kernel.compile
def compile(self, sig):
    print("compiling 0% done", file=sys.stderr, flush=True)
    return usual(self, sig)
kernels.Kernel.compile = compile
"""


@pytest.mark.integration
@pytest.mark.parametrize("later_s", [0.0, 0.5, 1.0, 1.5])
def test_ctrl_c_stops_the_first_compilation(later_s: float, tmp_path: Path) -> None:
    """At whatever moment; on a fast machine the last of these come when all is done."""
    (tmp_path / "cache").mkdir()
    arguments = ["solve", "fridgeiq", "square_01", "--count"]
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    with running(tmp_path, arguments, TELLING, **cache) as command:
        command.wait_for("compiling")
        time.sleep(later_s)
        if command.process.poll() is None:
            seconds = command.stop()
            # On its way out Python hears no signal any more, and dies of it in silence.
            out, err = command.output()
            whole = "solutions" in out and STOPPED not in err
            if command.process.returncode != 0 and not whole:
                command.check(seconds, COMPILING_LIMIT_S)
        else:
            assert later_s > 0
    assert [path.name for path in tmp_path.rglob("*.tmp.*")] == []


# --- at any moment
# ----------------------------------------------------------------------------------

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
#: What an export takes, in CPU seconds: a loaded machine gives a process less of them than time.
EXPORT_CPU_S = 2.0


#: ``python -m fabkit``, with Ctrl-C, which a test run may have switched off.
MODULE = """
import signal, runpy
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("fabkit", run_name="__main__", alter_sys=True)
"""


def cpu_s(process: int) -> float:
    """The CPU seconds that a process has had."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.integration
def test_signals_end_an_export_at_any_moment(tmp_path: Path) -> None:
    """While Python starts, while CadQuery loads, while files are written."""
    arguments = ["export-stl", "fridgeiq", "--piece", "D", "-o", "out", "-q"]
    command = [sys.executable, "-c", MODULE, *arguments]
    whole = 0
    moments = 15  # spread over all that it does
    for moment in range(moments):
        how = SIGNALS[moment % len(SIGNALS)]
        folder = tmp_path / str(moment)
        folder.mkdir()
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        wanted = 0.06 + EXPORT_CPU_S * moment / moments
        with contextlib.suppress(FileNotFoundError):
            while process.poll() is None and cpu_s(process.pid) < wanted:
                time.sleep(0.002)
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
        if process.returncode == 0:  # the signal came when all was done
            whole += 1
            assert err == ""
            continue
        assert (process.returncode, err) == (128 + how, f"{STOPPED}\n"), (moment, wanted)
        left = {path.name for path in folder.rglob("*")} - {"out", "stl", ".fabkit.lock"}
        assert left in (set(), {"D.stl", "manifest.json", "profile.toml"})
    assert whole < moments / 2
