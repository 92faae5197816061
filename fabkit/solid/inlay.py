"""The solid that fills a letter's engraving, to be printed in a second colour."""

from __future__ import annotations

import cadquery as cq

from fabkit.blueprint.draft import Blueprint
from fabkit.solid.body import letter_cutters


def inlay(blueprint: Blueprint) -> cq.Compound:
    """What was cut out of a piece for its letter, on one face or both.

    Args:
        blueprint: of a piece that has a letter.
    """
    return cq.Compound.makeCompound(letter_cutters(blueprint))
