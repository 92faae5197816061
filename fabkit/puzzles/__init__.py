"""Generated challenges: snowflakes and graded starting positions, all proved."""
