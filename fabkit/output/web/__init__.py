"""The web page of a set: what is played on, in files that need no server."""
