"""Snowflakes: the shapes of all pieces that have the full symmetry of the square, and only those.

========================  =======================================================================
module                    holds
========================  =======================================================================
`field`                   cells around a centre, taken together with their images
`bound`                   how far from the centre there can be any
`closure`                 what the placements' orbits unite to: the candidates
`tiling`                  whether the pieces tile a candidate
`query`, `search`         what is asked; the tasks that answer it, and what they add up to
`catalog`                 what is found, as files
========================  =======================================================================
"""

#: So long, in seconds, the solutions of a shape are counted, and a hard candidate is tried.
COUNT_S, DECIDE_S = 60.0, 600.0
