"""Outlines read back: long edges, the grid unit, and the cells that a body fills."""
