"""Slicing with an installed slicer, and judging its output."""
