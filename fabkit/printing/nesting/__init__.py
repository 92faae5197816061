"""Nesting: outlines laid on as few beds or sheets as can be, apart from each other."""
