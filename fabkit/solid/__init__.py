"""Solids from drawings, and STL and STEP files from solids. The only package that uses CadQuery."""
