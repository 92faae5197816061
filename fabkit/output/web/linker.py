"""ES modules as one classic script: a page that is opened from the disk may not load modules."""

from __future__ import annotations

import re
from pathlib import Path

from fabkit.core.files import shipped_file

#: The variable that holds what the modules of a linked script export.
NAMESPACE = "fabkitPlay"
_IMPORT = re.compile(r'^import \{([\w\s,$]+)\} from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*? ?|class |const )([\w$]+)", re.MULTILINE)
#: What is left of a module must contain no other import or export.
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_MODULE = """// {name}
Object.assign({namespace}, (() => {{
{body}
return {{ {exports} }};
}})());
"""


def link(folder: Path, *roots: str) -> str:
    """Return a script that runs modules of a folder, in order, each after those that it imports.

    Each module keeps a scope of its own; what it exports is in `NAMESPACE`. Modules use a part of the
    syntax only: ``import { a, b } from "./other.js";``, and ``export`` before a function, a class or a
    ``const`` with one name.

    Raises:
        ValueError: naming the module, when it uses more than that, imports what is not exported, is
            part of a circle of imports, or exports a name that another one exports.
    """
    exports: dict[str, list[str]] = {}
    scripts = [f'"use strict";\nvar {NAMESPACE} = {{}};\n']

    def add(name: str, importers: tuple[str, ...]) -> None:
        if name in importers:
            raise ValueError(f"{name}: imports itself: {' -> '.join([*importers, name])}")
        if name in exports:
            return
        text = shipped_file(folder / name).read_text(encoding="utf-8")
        for imported, module in _IMPORT.findall(text):
            add(module, (*importers, name))
            if unknown := {*_names(imported)} - {*exports[module]}:
                raise ValueError(f"{name}: {module} does not export {', '.join(sorted(unknown))}")
        own = [exported for _, exported in _EXPORT.findall(text)]
        for other, known in exports.items():
            if shared := {*own} & {*known}:
                raise ValueError(
                    f"{name}: exports {min(shared)}, as {other} does; rename one of them"
                )
        exports[name] = own
        body = _IMPORT.sub(lambda found: _unpacked(found[1]), text)
        body = _EXPORT.sub(r"\1\2", body)
        if other_syntax := _OTHER.search(body):
            raise ValueError(
                f"{name}: cannot be linked: {other_syntax[0]!r}; expected only imports of names in "
                "braces from a file beside it, and exports of functions, classes and constants"
            )
        scripts.append(
            _MODULE.format(
                name=name, namespace=NAMESPACE, body=body.strip(), exports=", ".join(own)
            )
        )

    for root in roots:
        add(root, ())
    return "".join(scripts)


def _names(imported: str) -> list[str]:
    return imported.replace(",", " ").split()


def _unpacked(imported: str) -> str:
    return f"const {{ {', '.join(_names(imported))} }} = {NAMESPACE};"
