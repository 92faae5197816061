"""Making the kernel's STEP files repeatable: the same parts give the same bytes.

The kernel writes three things that differ from one writing to the next: the time, a count of all
parts that the process has written so far, and the order of the colours at the end of the file
(it goes by memory addresses).
"""

from __future__ import annotations

import itertools
import re

_TIME_STAMP = re.compile(r"(FILE_NAME\('[^']*',)'[^']*'")
_TIMELESS = r"\1'2000-01-01T00:00:00'"
_OCCURRENCE = re.compile(r"(NEXT_ASSEMBLY_USAGE_OCCURRENCE\()'\d+'")
_ENTITY = re.compile(r"#(\d+) = (.*?);\n", re.DOTALL)
_REFERENCE = re.compile(r"#(\d+)")
_STYLES = "MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION"


def repeatable(step: str) -> str:
    """A STEP file without the traces of when, and after what, it was written.

    Args:
        step: as the kernel wrote it.

    Returns:
        The same model. Time stamp and counts are constant; colours come in the order of the
        parts that they belong to.

    Example:
        >>> repeatable("FILE_NAME('model','2026-11-20T12:00:00','me');")
        "FILE_NAME('model','2000-01-01T00:00:00','me');"
    """
    step = _TIME_STAMP.sub(_TIMELESS, step, count=1)
    numbers = itertools.count(1)
    step = _OCCURRENCE.sub(lambda found: f"{found[1]}'{next(numbers)}'", step)
    return _sort_styles(step)


def _sort_styles(step: str) -> str:
    """Renumbers the styles, which stand last, in the order of the geometry they colour."""
    first = re.search(rf"#(\d+) = {_STYLES}", step)
    if first is None:
        return step
    start, end = first.start(), step.index("ENDSEC;", first.start())
    lowest = int(first[1])
    entities = {
        int(found[1]): re.sub(r"\n\s*", "", found[2])
        for found in _ENTITY.finditer(step, start, end)
    }

    def below(entity: int) -> list[int]:
        """The styles that an entity is made of, in order, itself first."""
        parts = [int(n) for n in _REFERENCE.findall(entities[entity]) if int(n) >= lowest]
        return [entity, *(part for child in parts for part in below(child))]

    def coloured(entity: int) -> int:
        """The geometry that a group of styles belongs to; the kernel keeps that in order."""
        texts = [entities[part] for part in below(entity)]
        return min(int(n) for text in texts for n in _REFERENCE.findall(text) if int(n) < lowest)

    groups = [number for number, text in entities.items() if text.startswith(_STYLES)]
    order = dict.fromkeys(part for group in sorted(groups, key=coloured) for part in below(group))
    renamed = {old: new for new, old in enumerate(order, start=lowest)}
    lines = (
        f"#{renamed[old]} = "
        + _REFERENCE.sub(
            lambda found: f"#{renamed.get(int(found[1]), int(found[1]))}", entities[old]
        )
        + ";\n"
        for old in order
    )
    return step[:start] + "".join(lines) + step[end:]
