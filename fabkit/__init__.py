"""fabkit turns a packing puzzle into a real object.

One canonical piece, drawn once, drives the solver's placements and the printed
solids. The packages, from the top down (imports only go down):

- ``cli``: the commands; parses, calls one function, prints, sets the exit code.
- ``build``: what is made from what; writes a set's output folder.
- ``verify``: whether the meshes fit, and solve the catalog.
- ``printing``: plates, pauses, calibration, the odds that prints fit together, bills of materials,
  slicers.
- ``output``: drawings, the booklet, the page.
- ``puzzles``: generated challenges: snowflakes, starting positions.
- ``solve``: exact cover; ``certify``: its independent checker; ``solid``: CadQuery bodies, STL
  and STEP; ``mesh``: meshes read, recognised, measured; ``jobs``: long work.
- ``drawing``: the dimensions of parts in millimetres, from which solids are built.
- ``model``: lattices, pieces, placements, boards, challenges, profiles; exact integers.
- ``core``: errors, units, files.
"""

__version__ = "0.1.0"
