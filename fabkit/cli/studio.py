"""`fabkit studio`."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from fabkit.cli import options
from fabkit.cli.context import Context, with_options
from fabkit.cli.options import argument, flag, option
from fabkit.core.errors import install_hint, require_library
from fabkit.profiles.profile_file import layer_names, load_profile
from fabkit.sets.library import load_set, shipped_names

#: The largest number of a port.
_MAX_PORT = 65535


@with_options("profiles", "settings")
def studio(
    context: Context,
    set: str | None = argument(
        "SET", "A shipped set or a TOML file to begin with (default: a new one).", shipped_names
    ),
    port: int = option(
        "--port N", "The port (default: a free one).", 0, read=options.whole(0, _MAX_PORT)
    ),
    no_browser: bool = flag("--no-browser", "Print the link only; do not open a browser."),
) -> None:
    """Draw, tune, solve, play and print in the browser.

    It runs on this machine only, and writes files only where you save them: in the folder of SET, or in
    the current folder. Press Ctrl-C to end it.
    """
    folder, name = Path(), set or ""
    if name and name not in shipped_names():
        if not Path(name).is_file():
            load_set(name)  # says what is wrong with it
        folder, name = Path(name).parent, Path(name).name
    load_profile(context.profiles, context.settings)
    with require_library("the studio", "Starlette and uvicorn", install_hint("studio")):
        from fabkit.studio.files import WorkingFolder
        from fabkit.studio.server import run
    WorkingFolder(folder.resolve()).read(name)

    def announce(link: str, link_once: str) -> None:
        context.report.info(f"The studio runs at {link}")
        context.report.info("Press Ctrl-C to end it")
        context.report.document({"url": link})
        if not no_browser:
            webbrowser.open(link_once)

    pairs = (setting.partition("=") for setting in context.settings)
    settings = {key.strip(): value.strip() for key, _, value in pairs}
    # In the browser, files have their whole paths.
    layers = [
        layer if layer in layer_names() else str(Path(layer).resolve())
        for layer in context.profiles
    ]
    run(folder.resolve(), name, tuple(layers), settings, port, announce)
