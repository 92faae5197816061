"""CadQuery lives here and nowhere else: solids from drawings, STL and STEP from solids."""
