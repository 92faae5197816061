"""Print-ready: plates, pauses for magnets, the fit gauge, the bill of materials, sheets for laser and
knife, and what a real slicer says of it all."""
