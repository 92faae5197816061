"""The merged catalog of two searches for snowflakes, for `make_catalog.py`."""

from collections.abc import Mapping
from typing import Any

from fabkit.puzzles.snowflakes.catalog import catalog_order


def merge_catalogs(
    turned: Mapping[str, Any], flipped: Mapping[str, Any], command: str
) -> dict[str, Any]:
    """Merge two catalogs of a set: without and with turning pieces over.

    A shape in both is listed as in the one without.
    """
    solved = {record["id"]: record for record in (*flipped["challenges"], *turned["challenges"])}
    unknown = {record["id"]: record for record in (*flipped["unknown"], *turned["unknown"])}
    made = {**turned["made"], "command": command}
    if "seconds" in made:
        made["seconds"] = round(made["seconds"] + flipped["made"]["seconds"], 1)
    undecided = [record for name, record in unknown.items() if name not in solved]
    return {
        "set": turned["set"],
        "pieces": turned["pieces"],
        "made": made,
        "complete": [*turned["complete"], *flipped["complete"]],
        "challenges": sorted(solved.values(), key=catalog_order),
        "unknown": sorted(undecided, key=catalog_order),
    }
