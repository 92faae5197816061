"""Joins the catalogs of two runs, without and with turning pieces over, into the shipped one."""

import sys
from pathlib import Path

from fabkit.core.files import read_json, write_whole
from fabkit.puzzles.snowflakes.catalog import merged, text

work, target = map(Path, sys.argv[1:])
turned, flipped = (read_json(work / moves / "snowflakes.json") for moves in ("no-flips", "flips"))
write_whole(target / "fridgeiq.json", text(merged(turned, flipped, "scripts/catalogs")))
