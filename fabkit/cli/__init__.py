"""The commands: each parses, calls one function, prints, and leaves the exit code to `main`."""

from fabkit.cli.main import main

__all__ = ["main"]
