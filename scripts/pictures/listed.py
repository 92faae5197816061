"""Which pictures there are: list.toml, read."""

from __future__ import annotations

import platform
import shutil
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Says on what the pictures beside it were drawn.
KIND_FILE = "drawn-on.txt"


@dataclass(frozen=True)
class Picture:
    """A picture of the list.

    Attributes:
        file: its name in the gallery.
        command: of fabkit, with places for paths.
        take: the file in the command's folder that is the picture; empty when the command draws it.
        page: of that PDF file, from 1; 0 when it is no PDF file.
        wide: of a page, in pixels.
        varies: whether it may come out otherwise elsewhere; every PNG file may.
    """

    file: str
    command: str
    take: str = ""
    page: int = 0
    wide: int = 800
    varies: bool = False


def wanted(path: Path = HERE / "list.toml") -> list[Picture]:
    """The pictures of a list."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))["pictures"]
    found = [Picture(file, **said) for file, said in table.items()]
    return [replace(one, varies=one.varies or one.file.endswith(".png")) for one in found]


def drawn_on(picture: Picture) -> list[str]:
    """On what a picture is drawn here, as far as that decides how it comes out.

    The system brings the sines, the architecture the instructions. What else a processor has makes
    no difference: FridgeIQ's picture and plate came out the same with AVX-512, with AVX2, and
    without fused multiplication (as QEMU shows them). Pages of PDF files are drawn by a program.
    """
    machine = f"{platform.system()} {platform.machine()}"
    return [machine, _pdftoppm()] if picture.page else [machine]


@cache
def _pdftoppm() -> str:
    if shutil.which("pdftoppm") is None:
        return "no pdftoppm"
    done = subprocess.run(["pdftoppm", "-v"], capture_output=True, text=True, check=False)
    return (done.stderr or done.stdout).partition("\n")[0].strip()


def write_kind(pictures: Iterable[Picture], folder: Path) -> None:
    """Writes down on what the pictures in a folder were drawn."""
    lines = dict.fromkeys(line for one in pictures for line in drawn_on(one))
    (folder / KIND_FILE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def kind_of(folder: Path) -> list[str]:
    """On what the pictures in a folder were drawn; empty when that is not known."""
    path = folder / KIND_FILE
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
