"""What is made from what: a set's output folder, written whole or not at all, and made again only
where something changed."""

from fabkit.build.export import KINDS, Export, export, kinds_for
from fabkit.build.targets import Built, Place, Progress, Target, build

__all__ = [
    "KINDS",
    "Built",
    "Export",
    "Place",
    "Progress",
    "Target",
    "build",
    "export",
    "kinds_for",
]
