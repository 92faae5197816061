"""A slicer's verdict: a real one slices a plate, and what it says and writes is read and judged."""
