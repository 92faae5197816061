"""Pieces made of balls: reading them back from meshes, and inspecting them."""
