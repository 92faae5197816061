"""fabkit turns a packing puzzle into a real object.

One canonical piece, drawn once, drives the solver's placements and the printed
solids. The rooms, from the top down (imports only ever go down):

- ``cli``: the commands; parses, calls one function, prints, sets the exit code.
- ``plan``: what is built from what; writes a set's output folder.
- ``sheet``: drawings (SVG).
- ``solid``: CadQuery bodies, STL and STEP.
- ``blueprint``: what a piece will measure in millimetres, before any solid exists.
- ``model``: lattices, pieces, placements, boards, challenges, profiles; exact integers.
- ``base``: errors, units, strict reading, files.
"""

__version__ = "0.1.0"
