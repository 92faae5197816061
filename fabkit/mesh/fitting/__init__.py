"""Parts assembled as in a solution: overlaps, gaps and contacts."""
