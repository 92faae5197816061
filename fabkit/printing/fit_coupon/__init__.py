"""The fit gauge: a small print by which a maker finds the numbers that depend on the printer."""
