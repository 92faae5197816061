"""`fabkit studio`."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from fabkit.cli.context import WithSettings
from fabkit.cli.options import argument, flag, option, whole
from fabkit.core.errors import install_hint, require_library
from fabkit.profiles.profile_file import layer_names, load_profile
from fabkit.sets.library import load_set, shipped_names

#: The largest number of a port.
_MAX_PORT = 65535


class Studio(WithSettings):
    """Draw, tune, solve, play and print in the browser.

    It runs on this machine only, and writes files only where you save them: in the folder of SET,
    or in the current folder. Press Ctrl-C to end it.
    """

    set: str = argument(
        "SET", "A shipped set or a TOML file to begin with (default: a new one).", "", shipped_names
    )
    port: int = option("--port N", "The port (default: a free one).", 0, read=whole(0, _MAX_PORT))
    no_browser: bool = flag("--no-browser", "Print the link only; do not open a browser.")

    def run(self) -> None:
        folder, name = Path(), self.set
        if name and name not in shipped_names():
            if not Path(name).is_file():
                load_set(name)  # says what is wrong with it
            folder, name = Path(name).parent, Path(name).name
        load_profile(self.profiles, self.settings)
        with require_library("the studio", "Starlette and uvicorn", install_hint("studio")):
            from fabkit.studio.files import WorkingFolder
            from fabkit.studio.server import run
        WorkingFolder(folder.resolve()).read(name)

        def announce(link: str, link_once: str) -> None:
            self.report.info(f"The studio runs at {link}")
            self.report.info("Press Ctrl-C to end it")
            self.report.document(url=link)
            if not self.no_browser:
                webbrowser.open(link_once)

        pairs = (setting.partition("=") for setting in self.settings)
        settings = {key.strip(): value.strip() for key, _, value in pairs}
        # In the browser, files have their whole paths.
        names = layer_names()
        layers = [name if name in names else str(Path(name).resolve()) for name in self.profiles]
        run(folder.resolve(), name, tuple(layers), settings, self.port, announce)
