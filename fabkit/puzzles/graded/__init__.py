"""Graded challenges with one solution: starting positions on a board, and letters that make a shape."""
