"""README, CONTRIBUTING and the pages of docs, as tests read them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from tests.conftest import ROOT

#: Whatever else than fabkit a block of commands may run; tests do not.
OTHERS = r"scripts/|\.ci/|git |cd |pip |apt |\.venv/bin/|python3? "


@dataclass(frozen=True)
class Command:
    """A line of a block: the command, and the comment after the hash."""

    line: str
    comment: str

    @property
    def words(self) -> list[str]:
        return self.line.split()


@dataclass(frozen=True)
class DocPage:
    """A page in Markdown, by its path in the checkout."""

    name: str

    @property
    def path(self) -> Path:
        return ROOT / self.name

    @cached_property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @cached_property
    def blocks(self) -> list[tuple[str, str]]:
        """The kind and text of every fenced block, in order."""
        return re.findall(r"^ *```(\w+)[^\n]*\n(.*?)^ *```", self.text, re.DOTALL | re.MULTILINE)

    @cached_property
    def prose(self) -> str:
        """What is outside of blocks."""
        return re.sub(r"^ *```.*?^ *```", "", self.text, flags=re.DOTALL | re.MULTILINE)

    @cached_property
    def steps(self) -> list[Command | tuple[str, str]]:
        """In order: commands of fabkit, and TOML files by the names in their first lines."""
        found: list[Command | tuple[str, str]] = []
        for kind, text in self.blocks:
            if kind == "toml" and (name := re.match(r"# (\S+\.toml)\n", text)):
                found.append((name[1], text))
            elif kind == "sh":
                for line in text.replace("\\\n", " ").splitlines():
                    command, _, comment = line.strip().partition("#")
                    command = re.sub(r"^scripts/fabkit ", "fabkit ", command.strip())
                    if command.startswith("fabkit "):
                        found.append(Command(command, comment.strip()))
                    else:
                        assert not command or re.match(OTHERS, command), (self.name, command)
        return found

    @cached_property
    def outputs(self) -> dict[Command, str]:
        """What a command prints, in a block of text right behind the one that ends with it."""
        found = {}
        for (kind, lines), (other, text) in pairwise(self.blocks):
            if (kind, other) == ("sh", "text"):
                last = lines.strip().splitlines()[-1].partition("#")[0].strip()
                found[next(one for one in self.commands if one.line == last)] = text
        return found

    @cached_property
    def commands(self) -> list[Command]:
        return [one for one in self.steps if isinstance(one, Command)]


README = DocPage("README.md")
_ROOT_PAGES = ("README.md", "CONTRIBUTING.md")
PAGES = [DocPage(name) for name in _ROOT_PAGES if (ROOT / name).exists()] + [
    DocPage(path.relative_to(ROOT).as_posix()) for path in sorted((ROOT / "docs").rglob("*.md"))
]
#: Pages that people write; the others come from the code (see `scripts/docs`).
WRITTEN = [page for page in PAGES if "Written by scripts/docs" not in page.text]
EVERYTHING = "\n".join(page.text for page in WRITTEN)


def example(name: str) -> str:
    """The TOML file of a name, which every page that shows it shows alike."""
    steps = (one for page in PAGES for one in page.steps if isinstance(one, tuple))
    (text,) = {text for found, text in steps if found == name}
    return text
