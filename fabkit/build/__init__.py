"""Builds of a set's output folder: atomic, and incremental by content hashes."""

from fabkit.build.export import KINDS, ExportResult, export, kinds_for
from fabkit.build.targets import BuildResult, OutputPath, Progress, Target, build

__all__ = [
    "KINDS",
    "BuildResult",
    "ExportResult",
    "OutputPath",
    "Progress",
    "Target",
    "build",
    "export",
    "kinds_for",
]
