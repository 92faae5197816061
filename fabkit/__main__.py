"""``python -m fabkit`` does what the ``fabkit`` command does."""

from fabkit.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
