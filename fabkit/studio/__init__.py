"""The studio: draw, tune, solve, play and print in the browser."""
