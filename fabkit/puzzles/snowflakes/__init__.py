"""Snowflakes: the shapes of all pieces that have the full symmetry of the square.

========================  =======================================================================
module                    holds
========================  =======================================================================
`field`                   orbits of cells around a centre
`bound`                   the greatest possible distance from the centre
`closure`                 candidates: unions of the orbits that placements touch
`tiler`                   tiles a candidate with the pieces, or proves it impossible
`query`, `search`         the parameters of a search, and its tasks and results
`catalog`                 the output files
========================  =======================================================================
"""

#: Time limit for counting the solutions of a shape.
COUNT_S = 60.0
#: Time limit for deciding a hard candidate.
DECIDE_S = 600.0
