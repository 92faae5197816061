"""Mutation testing: faults, drawn by a seed or listed, and the tests that catch them."""
