"""Challenges that fabkit makes itself: snowflakes, starting positions, graded and proved."""
