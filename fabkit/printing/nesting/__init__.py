"""Nesting: outlines on as few beds or sheets as possible, with a gap between them."""
