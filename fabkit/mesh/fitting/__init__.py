"""Parts put together as a solution says: overlaps, gaps, and what a printer's errors make of them."""
