"""Snowflakes: the shapes of all pieces that have the full symmetry of the square, and only those.

========================  =======================================================================
module                    holds
========================  =======================================================================
`field`                   cells around a centre, taken together with their images
`bound`                   how far from the centre there can be any
`closure`                 the first search: what the placements' orbits unite to
`unions`, `joining`       its kernels
`tiling`                  whether the pieces tile a candidate
`bysat`                   the second search, against which tests hold the first
`wish`, `shards`          what is asked, and the parts into which the work is cut
`search`                  the waves of one search, and what they add up to
`catalog`                 what is found as a file
`proof`, `prooffiles`     why all else is impossible
========================  =======================================================================
"""

#: So long, in seconds, the solutions of a shape are counted, and a hard candidate is tried.
COUNT_S, DECIDE_S = 60.0, 600.0
