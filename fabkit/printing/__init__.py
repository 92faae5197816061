"""From drawings to prints: plates, pauses for magnets, calibration, assembly odds, the bill of
materials, sheets for lasers and plotters, and slicing."""
