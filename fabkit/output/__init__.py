"""Output for people: drawings, booklet, page."""
