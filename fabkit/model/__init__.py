"""Puzzles as exact integers: lattices, pieces, placements, boards, challenges."""
