"""Drawings in millimetres, from which solids are built: outlines, recesses, letters, boards, jigs."""
