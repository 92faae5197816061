"""fabkit turns a packing puzzle into a real object.

One canonical piece, drawn once, drives the solver's placements and the printed
solids. The rooms, from the top down (imports only ever go down):

- ``cli``: the commands; parses, calls one function, prints, sets the exit code.
- ``build``: what is made from what; writes a set's output folder.
- ``verify``: do the meshes fit, and do they solve the catalog.
- ``printing``: plates, pauses, calibration, the odds that prints fit together, bills of materials,
  slicers.
- ``output``: drawings, the booklet, the page.
- ``puzzles``: challenges that fabkit makes: snowflakes, starting positions.
- ``solve``: exact cover; ``certify``: its independent checker; ``solid``: CadQuery bodies, STL
  and STEP; ``mesh``: meshes read, recognised, measured; ``jobs``: long work.
- ``drawing``: what a piece will measure in millimetres, before any solid exists.
- ``model``: lattices, pieces, placements, boards, challenges, profiles; exact integers.
- ``core``: errors, units, files.
"""

__version__ = "0.1.0"
