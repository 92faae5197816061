"""Puzzles as exact integers: lattices, pieces, placements, boards, challenges, and print profiles."""
