"""Mesh files that anybody may have made: STL, 3MF and OBJ, read within bounds."""
