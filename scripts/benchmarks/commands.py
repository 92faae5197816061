"""Benchmark fabkit's commands as whole processes, as ratios to a reference run alongside.

Every round runs each line once, in turn, so that a machine that slows down slows all of them;
medians over the rounds are shown. With ``--against CHECKOUT`` every run is followed by the same
run of another checkout's fabkit, and the last column is the median of this one's seconds over that
one's, pair by pair.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from play import time_page
from solvers import ONE_THREAD, ROOT, TWELVE, compare
from studio import time_studio

#: Runs of each command.
ROUNDS = 5


@dataclass(frozen=True)
class Line:
    """One line of a table.

    Attributes:
        name: what is measured.
        command: fabkit's arguments, run in a folder that the benchmark's lines share.
        grows: whether its time is compared with that of the line above.
        limit: maximum time, as a multiple of the reference; 0 for none.
        codes: the accepted exit codes.
        prepare: fabkit's arguments, run once before measuring if this line is.
    """

    name: str
    command: str
    grows: bool = False
    limit: float = 0.0
    codes: tuple[int, ...] = (0,)
    prepare: str = ""


@dataclass(frozen=True)
class Benchmark:
    """A table: its lines are run in turn.

    Attributes:
        title: what is measured, and its size.
        reference: the Python code whose time is the unit of the ratios.
        lines: in the order of running.
        prepare: fabkit's arguments, run once before measuring, whatever lines there are.
        small: the names of the lines that ``--small`` runs, a short one; the first by default.
        rounds: number of rounds; fewer for long commands.
        compiles: whether every round begins without compiled kernels.
        foreign: whether its lines check `foreign_meshes`.
    """

    title: str
    reference: str
    lines: tuple[Line, ...]
    prepare: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    rounds: int = ROUNDS
    compiles: bool = False
    foreign: bool = False

    @property
    def named(self) -> str:
        """What the reference is called: the command, if it is one of fabkit's."""
        command = self.reference.partition("main([")[2].partition("])")[0]
        words = command.replace("'", "").replace(",", "")
        return f"`fabkit {words}`" if command else f"`{self.reference}`"


def _pieces(count: int) -> str:
    return " ".join(f"--piece {piece}" for piece in "ARELOMTSQDJBNYIU"[:count])


def _check_files(count: int) -> str:
    return " ".join(f"stl/stl/{piece}.stl" for piece in "ARELOMTSQDJBNYIU"[:count])


def _challenges(count: int) -> str:
    """Some of FridgeIQ's box challenges that have a solution, small and large ones."""
    names = [f"square_{n:02}" for n in range(1, 11)] + [f"triangle_{n:02}" for n in range(1, 7)]
    return " ".join(f"--only {name}" for name in names[:count])


#: Writes the meshes that `check` and `verify` read.
EXPORT = "export-stl fridgeiq -o stl"

BENCHMARKS: dict[str, Benchmark] = {
    "start": Benchmark(
        "short commands",
        "import numpy",
        (
            Line("fabkit --version", "--version"),
            Line("fabkit --help", "--help"),
            Line("sets", "sets"),
            Line("show fridgeiq", "show fridgeiq"),
            Line("iqblock, count", "solve iqblock --count"),
        ),
    ),
    "first-run": Benchmark(
        "the kernels, and the first commands after they are compiled",
        "import numba",
        (
            # An older checkout, as of --against, has no such command.
            Line("warm-up, from nothing", "warm-up", codes=(0, 2)),
            Line("warm-up again", "warm-up", codes=(0, 2)),
            Line("first solve", "solve iqblock --count"),
            Line("second solve", "solve iqblock --count", grows=True),
            Line("first check", "check fridgeiq -o stl --force", prepare=EXPORT),
            Line("second check", "check fridgeiq -o stl --force", grows=True),
        ),
        small=("first solve",),
        rounds=1,
        compiles=True,
    ),
    "export": Benchmark(
        "export-stl fridgeiq",
        "import cadquery",
        (
            Line("first export", "export-stl fridgeiq --force -o stl", limit=1.35),
            Line("unchanged", "export-stl fridgeiq -o stl", limit=0.25),
            Line("crush ribs", "export-stl fridgeiq --force -s recess.fit=ribs -o ribs", limit=2.2),
            Line("fabkit --help", "--help"),
            *(
                Line(f"{n:2} pieces", f"export-stl fridgeiq --force -o grow {_pieces(n)}", n > 1)
                for n in (1, 4, 16)
            ),
        ),
        small=(" 1 pieces",),
    ),
    "check": Benchmark(
        "check and verify the sixteen STL files of fridgeiq",
        "import trimesh",
        (
            Line("check", "check fridgeiq -o stl"),
            Line("check, odds", "check fridgeiq -o stl --printer-error 0.05mm"),
            Line("verify", "verify fridgeiq -o stl"),
            *(
                Line(
                    f"check {n:2} files",
                    f"check --set fridgeiq {_check_files(n)}",
                    grows=n > 4,
                    codes=(0,) if n == 16 else (1,),  # the other pieces are missing
                )
                for n in (4, 8, 16)
            ),
            Line(
                "check 64 files",
                "check copies-4.toml -o many",
                grows=True,
                prepare="export-stl copies-4.toml -o many",
            ),
            Line("verify 64 files", "verify copies-4.toml -o many"),
        ),
        prepare=(EXPORT,),
        small=("check  4 files",),
        rounds=3,
    ),
    "foreign": Benchmark(
        "check of meshes that are no pieces of fridgeiq",
        "import sys; from fabkit.cli import main; sys.exit(main(['check', 'fridgeiq', '-o', "
        "'stl']))",
        (
            Line("a sphere, 5,120 faces", "check --set fridgeiq sphere.stl", False, 1.5, (1,)),
            Line("a torn scan, 80,000", "check --set fridgeiq scan.stl", False, 1.5, (1,)),
            Line("17 gears", "check --set fridgeiq gears.stl", False, 4.0, (1,)),
            Line("40 chain links", "check --set fridgeiq chain.stl", False, 4.0, (1,)),
            Line(
                "128 pieces",
                "check copies-8.toml -o many",
                prepare="export-stl copies-8.toml -o many",
            ),
        ),
        prepare=(EXPORT,),
        small=("a sphere, 5,120 faces",),
        rounds=3,
        foreign=True,
    ),
    "make": Benchmark(
        "make, from nothing and with nothing changed",
        "import cadquery",
        tuple(
            line
            for name in ("iqstars", "iqblock", "cubimagici", "iqfit", "fridgeiq")
            for line in (
                Line(name, f"make {name} --force -o {name}"),
                Line(f"{name}, unchanged", f"make {name} -o {name}"),
            )
        ),
        small=("cubimagici",),
        rounds=3,
    ),
    "pages": Benchmark(
        "page, coupon and jig, from nothing and with nothing changed",
        "import cadquery",
        tuple(
            line
            for name, command in (
                ("page iqblock", "page iqblock -o page"),
                ("page fridgeiq", "page fridgeiq -o pages"),
                ("coupon", "coupon -o coupon"),
                ("jig", "jig -o jig"),
            )
            for line in (Line(name, f"{command} --force"), Line(f"{name}, unchanged", command))
        ),
        small=("jig",),
        rounds=3,
    ),
    "solve": Benchmark(
        "solve",
        "import numba",
        (
            Line("iqblock, first solution", "solve iqblock"),
            Line("iqblock, count", "solve iqblock --count"),
            Line("cubimagici, count", "solve cubimagici --count"),
            Line("iqstars, count", "solve iqstars --count"),
            Line("iqfit, count", "solve iqfit --count"),
            Line("iqfit, count by count", "solve iqfit --count --engine count"),
            Line("iqfit, count by search", "solve iqfit --count --engine search"),
            Line("twelve, count", f"solve {TWELVE} --count"),
            Line("twelve, count by count", f"solve {TWELVE} --count --engine count"),
            Line("twelve, count by search", f"solve {TWELVE} --count --engine search"),
            Line("square_05, first solution", "solve fridgeiq square_05"),
            Line("square_05, count", "solve fridgeiq square_05 --count"),
            Line("square_05, count by count", "solve fridgeiq square_05 --count --engine count"),
            Line("square_05, count by search", "solve fridgeiq square_05 --count --engine search"),
            Line("square_08, count", "solve fridgeiq square_08 --count", grows=True),
            Line("square_10, first by SAT", "solve fridgeiq square_10 --engine sat"),
            Line("rectangle_02_b, impossible", "solve fridgeiq rectangle_02_b", codes=(1,)),
            Line("triangle_01, unique", "solve fridgeiq triangle_01 --unique", codes=(0, 1)),
            Line("square_05, difficulty", "solve fridgeiq square_05 --difficulty"),
        ),
        rounds=3,
    ),
    "box": Benchmark(
        "all 41 box challenges of fridgeiq counted: see `verify` for their first solutions",
        "import numba",
        tuple(
            Line(name, f"solve fridgeiq {name} --count", n > 0)
            for n, name in enumerate(f"square_{size:02}" for size in range(4, 11))
        ),
        small=("square_04",),
        rounds=1,
    ),
    "snowflakes": Benchmark(
        "snowflakes of fridgeiq by half-width, not counted",
        "import numba",
        (
            *(
                Line(
                    f"{parity} {h:2}",
                    f"snowflakes fridgeiq --parity {parity} --max-half-width {h} "
                    f"--count-budget 0 --workers 2 -o {parity}{h}-{{n}}",
                    grows=h > 3,
                    codes=(0, 1),  # some sizes have none
                )
                for parity, widths in (("even", (3, 4, 6)), ("odd", (3, 5)), ("mixed", (3, 4)))
                for h in widths
            ),
            Line("all of them", "snowflakes fridgeiq --count-budget 0 --workers 2 -o all-{n}"),
        ),
        small=("even  3",),
        rounds=1,
    ),
    "challenges": Benchmark(
        "120 starting positions of each set",
        "import numba",
        tuple(
            Line(name, f"challenges {name} --count {{count}} -o {name}-{{n}}", codes=(0, 1))
            for name in ("iqstars", "iqfit", "iqblock", "cubimagici", "fridgeiq")
        ),
        small=("iqstars",),
        rounds=1,
    ),
    "plate": Benchmark(
        "print plates of fridgeiq on a small bed, and of its pieces two to eight times",
        "import cadquery",
        tuple(
            Line(f"{n * 16:3} pieces", f"plate copies-{n}.toml --force -o plate-{n}", n > 1)
            for n in (1, 2, 4, 8)
        ),
        small=(" 16 pieces",),
        rounds=1,
    ),
    "booklet": Benchmark(
        "booklets of fridgeiq by the number of challenges",
        "import reportlab",
        (
            *(
                Line(
                    f"{n:3} challenges",
                    f"booklet fridgeiq --no-picture -o b{n}.pdf {_challenges(n)}",
                    n > 2,
                )
                for n in (2, 8, 16)
            ),
            Line("all, with the picture", "booklet fridgeiq -o all.pdf"),
        ),
        rounds=1,
    ),
}


@dataclass
class Measured:
    """The runs of one line: seconds of each, also for the other checkout, and peak memory."""

    seconds: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)
    megabytes: float = 0.0

    @property
    def median_s(self) -> float:
        return statistics.median(self.seconds)

    @property
    def ratio(self) -> float:
        """This checkout's time over the other's, pair by pair."""
        pairs = zip(self.seconds, self.others, strict=True)
        return statistics.median(ours / theirs for ours, theirs in pairs)


def run(
    arguments: list[str],
    folder: Path,
    checkout: Path,
    codes: tuple[int, ...],
    kernels: Path | None = None,
) -> Measured:
    """Run one process; `kernels` is a folder for compiled kernels, if not the usual one.

    Raises:
        SystemExit: if it ends with another exit code; with the end of its output.
    """
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(checkout)}
    if kernels:
        environment["NUMBA_CACHE_DIR"] = str(kernels)
    with tempfile.TemporaryFile() as stderr:
        begin = time.perf_counter()
        child = subprocess.Popen(
            arguments, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=stderr
        )
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in codes:
            stderr.seek(0)
            text = stderr.read().decode(errors="replace")[-500:]
            raise SystemExit(f"bench: {' '.join(arguments)} ended with {child.returncode}:\n{text}")
    return Measured([seconds], [], used.ru_maxrss / 1000)


def measure(
    bench: Benchmark, small: bool, against: Path | None, rounds: int
) -> dict[str, Measured]:
    """Measure all lines of a benchmark, the reference first."""
    lines = bench.lines
    if small:
        wanted = bench.small or (lines[0].name,)
        lines = tuple(line for line in lines if line.name in wanted)
    found: dict[str, Measured] = {"": Measured()} | {line.name: Measured() for line in lines}
    checkouts = [ROOT, *([against] if against else [])]
    with tempfile.TemporaryDirectory() as name:
        folders = [Path(name) / str(number) for number in range(len(checkouts))]
        for folder, checkout in zip(folders, checkouts, strict=True):
            folder.mkdir()
            copies(folder)
            if bench.foreign:
                foreign_meshes(folder)
            for first in (*bench.prepare, *(line.prepare for line in lines if line.prepare)):
                run(fabkit(first), folder, checkout, (0,))
        rounds = 1 if small else rounds or bench.rounds
        for number in range(-1 if rounds > 1 else 0, rounds):  # one more, to fill the caches
            once = run([sys.executable, "-c", bench.reference], folders[0], ROOT, (0,))
            measured = [("", once, once)]
            for line in lines:
                text = line.command.replace("{n}", str(number))
                arguments = fabkit(text.replace("{count}", "5" if small else "120"))
                runs = [
                    run(
                        arguments,
                        folder,
                        checkout,
                        line.codes,
                        folder / f"kernels-{number}" if bench.compiles else None,
                    )
                    for folder, checkout in zip(folders, checkouts, strict=True)
                ]
                measured.append((line.name, runs[0], runs[-1]))
            for key, ours, theirs in measured if number >= 0 else ():
                found[key].seconds += ours.seconds
                found[key].others += theirs.seconds
                found[key].megabytes = max(found[key].megabytes, ours.megabytes)
    return found


def fabkit(arguments: str) -> list[str]:
    return [sys.executable, "-m", "fabkit", *arguments.split()]


def copies(folder: Path) -> None:
    """Set files with several copies of FridgeIQ's pieces, for growing plates and sets."""
    shutil.copytree(ROOT / "pieces", folder / "pieces")
    text = (ROOT / "pieces" / "fridgeiq.toml").read_text(encoding="utf-8")
    pieces = text[: text.index("[[challenge]]")]
    for count in (1, 2, 4, 8):
        copied = pieces.replace("[[piece]]", f"[[piece]]\ncount = {count}")
        copied = copied.replace("\narea = 40\n", "\n")  # that of one copy
        (folder / f"copies-{count}.toml").write_text(copied, encoding="utf-8")


def foreign_meshes(folder: Path) -> None:
    """Meshes as other people's files hold them: a ball, a torn scan, gears and links of a chain."""
    import numpy as np
    import shapely
    import trimesh
    from trimesh.transformations import random_rotation_matrix

    chance = np.random.default_rng(0)

    def scattered(parts: list[trimesh.Trimesh]) -> trimesh.Trimesh:
        for number, part in enumerate(parts):
            part.apply_transform(random_rotation_matrix(chance.random(3)))
            part.apply_translation([number % 6 * 90, number // 6 * 90, 0])
        whole = trimesh.util.concatenate(parts)
        assert isinstance(whole, trimesh.Trimesh)
        return whole

    def gear(teeth: int) -> trimesh.Trimesh:
        angles = np.linspace(0, 2 * np.pi, 12 * teeth, endpoint=False)
        radii = teeth * (1 + 0.12 * np.tanh(4 * np.sin(teeth * angles)))
        outline = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
        whole = shapely.Polygon(outline, [outline[::-1] / 4])
        return trimesh.creation.extrude_polygon(whole, teeth - 2).subdivide()

    trimesh.creation.icosphere(4, 30.0).export(folder / "sphere.stl")
    scan = trimesh.creation.icosphere(6, 30.0)
    waves = np.sin(scan.vertices / 5).sum(axis=1, keepdims=True)
    scan.vertices *= 1 + waves / 10 + chance.normal(0, 1e-4, waves.shape)
    scan.update_faces(chance.random(len(scan.faces)) > 1e-3)
    scan.export(folder / "scan.stl")
    scattered([gear(10 + number) for number in range(17)]).export(folder / "gears.stl")
    link = trimesh.creation.torus(11, 3, 48, 24)
    link.vertices *= (1.7, 1, 1)
    scattered([link.copy() for _ in range(40)]).export(folder / "chain.stl")


def table(bench: Benchmark, found: dict[str, Measured], against: bool) -> Iterator[str]:
    """The printed lines, in Markdown, as docs/explanation/speed.md has them."""
    base = found[""].median_s
    columns = ["", "seconds", "MB", "x reference", "limit", "x line above"]
    columns += ["x the other"] if against else []
    yield f"{bench.title[:1].upper()}{bench.title[1:]}. Reference: {bench.named}, {base:.2f} s.\n"
    yield _row(columns)
    yield _row(["---", *("---:" for _ in columns[1:])])
    above = 0.0
    for line in bench.lines:
        if line.name not in found:
            continue
        one = found[line.name]
        limit = f"{line.limit:.2f}" if line.limit else ""
        grown = f"{one.median_s / above:.2f}" if line.grows and above else ""
        cells = [f"{one.median_s:.2f}", f"{one.megabytes:.0f}", f"{one.median_s / base:.2f}"]
        cells += [limit, grown] + ([f"{one.ratio:.2f}"] if against else [])
        yield _row([line.name, *cells])
        above = one.median_s


def _row(cells: list[str]) -> str:
    width = max(28, len(cells[0]))
    return f"| {cells[0]:{width}} | " + " | ".join(f"{cell:>12}" for cell in cells[1:]) + " |"


def main() -> int:
    """Run the selected benchmarks.

    Returns:
        1 if one exceeds its limit, else 0.
    """
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    own = {"solvers": compare, "play": time_page, "studio": time_studio}
    known = [*BENCHMARKS, *own]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"from {', '.join(known)}")
    parser.add_argument(
        "--small", action="store_true", help="run one round of a short line of each, and judge none"
    )
    parser.add_argument(
        "--rounds", type=int, default=0, help="number of rounds (default: each benchmark's own)"
    )
    parser.add_argument(
        "--against", type=Path, metavar="CHECKOUT", help="compare with the fabkit of this checkout"
    )
    wanted = parser.parse_args()
    names = wanted.names or (known if wanted.small else ["export", "solve", "check"])
    if unknown := set(names) - set(known):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; choose from {known}")
    kept = True
    for name in names:
        if name in own:
            kept &= own[name](wanted.small)
            continue
        bench = BENCHMARKS[name]
        against = wanted.against and wanted.against.resolve()
        found = measure(bench, wanted.small, against, wanted.rounds)
        print("\n".join(table(bench, found, against is not None)), end="\n\n", flush=True)
        limits = {line.name: line.limit for line in bench.lines if line.limit}
        kept &= wanted.small or all(
            found[name].median_s <= limit * found[""].median_s
            for name, limit in limits.items()
            if name in found
        )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
