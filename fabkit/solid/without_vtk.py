"""CadQuery without VTK, which it imports for its viewers only.

VTK takes a third of the time of CadQuery's import, and a hundred megabytes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def leave_out_vtk() -> None:
    """Import empty modules in place of VTK's, in a process that shows nothing with CadQuery."""
    sys.meta_path.insert(0, _EmptyVtk())


class _EmptyVtk(MetaPathFinder, Loader):
    """The finder of the modules of VTK; every name in them is an empty class."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of VTK."""
        is_vtk = fullname.partition(".")[0] in ("vtk", "vtkmodules")
        return ModuleSpec(fullname, self, is_package=True) if is_vtk else None

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names."""
        module.__dict__["__getattr__"] = _empty_class


def _empty_class(name: str) -> type:
    if name.startswith("__"):  # what Python asks of any module
        raise AttributeError(name)
    return type(name, (), {})
