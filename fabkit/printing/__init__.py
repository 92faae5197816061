"""Print-ready: plates, pauses for magnets, calibration, the odds that prints go together, the bill of
materials, sheets for laser and knife, and what a real slicer says of it all."""
