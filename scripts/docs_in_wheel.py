"""The build hook that puts the documentation site into a wheel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DocsHook(BuildHookInterface):
    """Builds the site before the wheel; an editable installation has none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the site, and have it included as ``fabkit/docs``."""
        if version == "editable":
            return
        self._scratch = TemporaryDirectory()
        site = str(Path(self._scratch.name) / "site")
        script = str(Path(self.root) / "scripts" / "docs_site.py")
        subprocess.run([sys.executable, script, site], check=True)
        build_data["force_include"][site] = "fabkit/docs"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the site again."""
        if version != "editable":
            self._scratch.cleanup()
