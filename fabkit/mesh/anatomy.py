"""The old place of `fabkit.mesh.features`."""

from fabkit.mesh.features import Features as Anatomy
from fabkit.mesh.features import can_be_turned_over
from fabkit.mesh.features import features as anatomy

__all__ = ["Anatomy", "anatomy", "can_be_turned_over"]
