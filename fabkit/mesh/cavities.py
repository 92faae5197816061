"""The old place of `fabkit.mesh.features`."""

from fabkit.mesh.features import Cavity, Circle, Slice, cavities, circle_of, slices

__all__ = ["Cavity", "Circle", "Slice", "cavities", "circle_of", "slices"]
