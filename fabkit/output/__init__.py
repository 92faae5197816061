"""Drawings that people look at."""
