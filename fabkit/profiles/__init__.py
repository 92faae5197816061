"""Print profiles: presets, files and single settings, and what they make of a set."""
