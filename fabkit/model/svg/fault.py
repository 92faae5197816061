"""What is wrong with an SVG file, in a sentence."""

from __future__ import annotations


class SvgError(ValueError):
    """A drawing that is no outline of a piece; the sentence says where and why."""
