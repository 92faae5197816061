"""Builds of a set's output folder: atomic, and incremental by content hashes."""
