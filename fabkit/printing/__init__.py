"""From drawings to prints: plates, pauses for magnets, calibration, assembly odds, the bill of
materials, sheets for laser and knife, and slicing with a real slicer."""
