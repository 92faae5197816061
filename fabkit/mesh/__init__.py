"""Meshes, wherever they come from: read, inspected as parts, put together, read back as outlines."""
