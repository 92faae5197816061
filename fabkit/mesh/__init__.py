"""Meshes from any source: read, fitted to the lattice, checked against rules, and assembled."""
