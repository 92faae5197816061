"""CadQuery lives here and nowhere else: solids from blueprints, STL and STEP from solids."""
