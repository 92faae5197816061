"""What is built from what: a set's output folder, written whole or not at all, rebuilt only where
something changed."""

from fabkit.build.export import Export, export
from fabkit.build.targets import KINDS, kinds_for

__all__ = ["KINDS", "Export", "export", "kinds_for"]
