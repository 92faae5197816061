"""Graded challenges with one solution: starting positions, and subsets of pieces for a shape."""

#: What a clue can tell of a cell: its piece, that piece's colour, or its mark.
CLUE_KINDS = ("cells", "colours", "marks")
