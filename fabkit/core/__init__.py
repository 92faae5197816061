"""The ground floor: errors, units, strict reading, whole-or-nothing files. Knows no puzzle."""
