"""The ``fabkit`` command, also as ``python -m fabkit``. Signals end it quietly from here on."""

from fabkit.core.signals import exit_on_signals, ignore_signals


def main() -> int:
    """Runs one command and returns its exit code."""
    exit_on_signals()
    from fabkit.cli import main as run

    code = run()
    ignore_signals()
    return code


if __name__ == "__main__":
    raise SystemExit(main())
