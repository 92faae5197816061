"""What nesting costs and how well it fills a bed: spyrrow beside rectpack, as sets grow.

One set of FridgeIQ is sixteen pieces; larger ones are several copies. The nested area is that of the
pieces' outlines, as a part of the beds' usable area.
"""

from __future__ import annotations

import sys
import time

from fabkit.drawing.draft import draft_all
from fabkit.model.library import load_set
from fabkit.model.profilefile import load_profile
from fabkit.printing.nesting.bypolygon import is_available
from fabkit.printing.nesting.nest import nest
from fabkit.printing.nesting.room import Room, Shape

#: The bed of a small printer, and the same with a corner for a prime tower.
ROOMS = {
    "nothing kept free": Room(180, 180, 2, 5),
    "a corner of 40 mm kept free": Room(180, 180, 2, 5, 40),
}
COPIES = (1, 2, 4, 8)
#: One set shall lie on one small bed, in so many seconds on two cores.
LIMIT_S = 10.0


def shapes(copies: int) -> list[Shape]:
    fridgeiq = load_set("fridgeiq")
    blueprints = draft_all(fridgeiq, fridgeiq.pieces, load_profile())
    return [
        Shape(f"{one.piece}{number}", one.outline) for number in range(copies) for one in blueprints
    ]


def measure(room: Room, engine: str, copies: int) -> tuple[int, float]:
    """Plates and seconds."""
    wanted = shapes(copies)
    begin = time.perf_counter()
    rooms = nest(wanted, room, engine)
    took = time.perf_counter() - begin
    area = sum(shape.outline.area for shape in wanted)
    corner = room.corner.area if room.corner else 0.0
    share = area / (len(rooms) * (room.usable.area - corner))
    print(
        f"  {len(wanted):4d} pieces  {engine:9s} {len(rooms):6d} {share:9.1%} {took:9.2f}",
        flush=True,
    )
    return len(rooms), took


def main() -> int:
    engines = ["rectpack", *(["spyrrow"] if is_available() else [])]
    kept = True
    for name, room in ROOMS.items():
        print(f"FridgeIQ on beds of 180 x 180 mm, gap 2, edge 5: {name}")
        print("                         plates    nested   seconds")
        for copies in COPIES:
            for engine in engines:
                plates, took = measure(room, engine, copies)
                if engine == "spyrrow" and copies == 1:
                    kept &= plates == 1 and took <= LIMIT_S
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
