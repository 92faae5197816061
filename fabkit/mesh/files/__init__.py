"""Mesh files: untrusted files are read within bounds; 3MF is written."""
