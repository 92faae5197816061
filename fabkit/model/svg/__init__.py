"""Outlines from SVG files: one shape of straight lines, drawn at 1:1, put onto a lattice."""

from fabkit.model.svg.fault import SvgError
from fabkit.model.svg.folder import SvgFolder

__all__ = ["SvgError", "SvgFolder"]
