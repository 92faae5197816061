"""The ``fabkit`` command, also as ``python -m fabkit``. Signals end it without a traceback."""

import gc
import sys

from fabkit.core.signals import exit_on_signals, ignore_signals


def main() -> int:
    """Run one command and return its exit code."""
    exit_on_signals()
    from fabkit.cli import main as run
    from fabkit.solid.without_vtk import leave_out_vtk

    leave_out_vtk()
    code = run()
    if "manifold3d" in sys.modules:
        gc.collect()  # nanobind reports manifolds that garbage still holds when Python ends
    gc.freeze()  # else Python looks for garbage among all objects when it ends
    ignore_signals()
    return code


if __name__ == "__main__":
    raise SystemExit(main())
