"""ES modules as one classic script: a page that is opened from the disk may not load modules."""

from __future__ import annotations

import re
from pathlib import Path

from fabkit.core.parsing import shipped_file

_IMPORT = re.compile(r'^import \{([\w\s,]+)\} from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*? ?|class |const )(\w+)", re.MULTILINE)
#: What must not be left of a module.
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def link(folder: Path, *roots: str) -> str:
    """Return a script that runs modules of a folder, in order, each after those that it imports.

    Each module keeps its scope; ``fabkitPlay`` holds what all of them export. They use a part of
    the syntax only: ``import { a, b } from "./other.js";``, and ``export`` before a function, a
    class or a ``const`` with one name.

    Raises:
        ValueError: naming the module, when it uses more than that, imports what is not exported, is
            part of a circle of imports, or exports a name that another one exports.
    """
    exports: dict[str, set[str]] = {}
    scripts = ['"use strict";\nvar fabkitPlay = {};\n']

    def add(name: str, importers: tuple[str, ...] = ()) -> None:
        if name in importers:
            raise ValueError(f"{name}: imports itself: {' -> '.join([*importers, name])}")
        if name in exports:
            return
        text = shipped_file(folder / name).read_text(encoding="utf-8")
        for names, module in _IMPORT.findall(text):
            add(module, (*importers, name))
            if unknown := {*names.replace(",", " ").split()} - exports[module]:
                raise ValueError(f"{name}: {module} does not export {min(unknown)}")
        own = [exported for _, exported in _EXPORT.findall(text)]
        for other, exported in exports.items():
            if shared := exported.intersection(own):
                raise ValueError(f"{name}: exports {min(shared)}, as {other} does; rename one")
        exports[name] = set(own)
        body = _EXPORT.sub(r"\1\2", _IMPORT.sub(r"const {\1} = fabkitPlay;", text))
        if other_syntax := _OTHER.search(body):
            raise ValueError(
                f"{name}: cannot be linked: {other_syntax[0]!r}; expected only imports of names in "
                "braces from a file beside it, and exports of functions, classes and constants"
            )
        scope = f"(() => {{\n{body}\nreturn {{ {', '.join(own)} }};\n}})()"
        scripts.append(f"// {name}\nObject.assign(fabkitPlay, {scope});\n")

    for root in roots:
        add(root)
    return "".join(scripts)
