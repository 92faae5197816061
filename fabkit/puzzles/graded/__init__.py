"""Graded challenges with one solution: starting positions, and subsets of pieces for a shape."""
