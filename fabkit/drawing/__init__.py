"""Drawings in mm, from which solids are built: outlines, recesses, letters, boards, jigs."""
