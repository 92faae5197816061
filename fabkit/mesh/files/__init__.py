"""Mesh files: read within bounds whoever made them, written as 3MF and GLB."""
