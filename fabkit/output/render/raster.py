"""Which triangle is seen at each sample of a picture: a depth buffer, filled row by row.

All triangles are worked on together: they are cut into rows of samples, the rows into samples,
and each sample keeps the nearest. Only sums, products and quotients of single numbers are used,
which every machine rounds alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabkit.output.render.scene import Faces, Floats

#: So many samples are worked on at a time.
_AT_A_TIME = 1 << 16
#: Steps of depth.
_DEPTHS = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class Buffer:
    """What is seen at the samples of a picture.

    Attributes:
        face: the number of the triangle that is seen, shape (height, width); -1 for none.
        depth: how near it is, shape (height, width), from 0 to 1; 0 for none.
    """

    face: NDArray[np.int64]
    depth: Floats


def rasterise(x: Floats, y: Floats, near: Floats, faces: Faces, width: int, height: int) -> Buffer:
    """Finds the nearest triangle at the middle of every sample.

    Args:
        x: of the corners, in samples to the right.
        y: of the corners, in samples downwards.
        near: how near they are; must be linear along straight lines.
        faces: triangles. Those that turn clockwise as seen (with y down: counter-clockwise in
            numbers) show their backs, and are left out.
        width: of the picture in samples.
        height: of the picture in samples.

    Returns:
        The buffer. Of two triangles at the same depth the one with the lower number is seen; two
        that share an edge leave no sample between them out.
    """
    low, high = (float(near.min()), float(near.max())) if len(near) else (0.0, 0.0)
    depth = 0.25 + 0.5 * (near - low) / max(high - low, 1e-12)
    best = np.zeros(width * height, dtype=np.uint64)
    for place, value, face in _samples(x, y, depth, faces, width, height):
        steps = (value * _DEPTHS).astype(np.uint64)
        key = (steps << np.uint64(32)) | (np.uint64(0xFFFFFFFF) - face.astype(np.uint64))
        np.maximum.at(best, place, key)
    steps = best >> np.uint64(32)
    face = np.int64(0xFFFFFFFF) - (best & np.uint64(0xFFFFFFFF)).astype(np.int64)
    found = np.where(steps > 0, face, -1).reshape(height, width)
    return Buffer(found, (steps.astype(np.float64) / _DEPTHS).reshape(height, width))


def depth_of(near: Floats, low: float, high: float) -> Floats:
    """How near something is in the depths of a buffer whose corners span from `low` to `high`."""
    return 0.25 + 0.5 * (near - low) / max(high - low, 1e-12)


def _samples(
    x: Floats, y: Floats, depth: Floats, faces: Faces, width: int, height: int
) -> Iterator[tuple[NDArray[np.int64], Floats, NDArray[np.int64]]]:
    """Chunks of samples that triangles cover: their places, depths and triangles."""
    ax, bx, cx = (x[faces[:, i]] for i in range(3))
    ay, by, cy = (y[faces[:, i]] for i in range(3))
    shown = np.flatnonzero((bx - ax) * (cy - ay) - (by - ay) * (cx - ax) < 0)
    if not len(shown):
        return
    corners = faces[shown]
    order = np.argsort(y[corners], axis=1, kind="stable")
    top, middle, bottom = (
        np.take_along_axis(corners, order[:, i : i + 1], axis=1)[:, 0] for i in range(3)
    )
    first = np.clip(np.ceil(y[top] - 0.5), 0, height).astype(np.int64)
    after = np.clip(np.ceil(y[bottom] - 0.5), 0, height).astype(np.int64)
    rows = np.maximum(after - first, 0)
    tall = np.flatnonzero(rows)  # the others pass between two rows of samples
    first, rows, shown = first[tall], rows[tall], shown[tall]
    top, middle, bottom = top[tall], middle[tall], bottom[tall]
    begin = 0
    # Chunks of triangles bound the memory; a chunk's rows are then cut into chunks of samples.
    ends = np.cumsum(rows)
    while begin < len(rows):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _AT_A_TIME, side="right")))
        part = slice(begin, end)
        yield from _of_rows(
            (x, y, depth),
            (top[part], middle[part], bottom[part]),
            first[part],
            rows[part],
            shown[part],
            width,
        )
        begin = end


def _of_rows(
    points: tuple[Floats, Floats, Floats],
    corners: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    first: NDArray[np.int64],
    rows: NDArray[np.int64],
    face: NDArray[np.int64],
    width: int,
) -> Iterator[tuple[NDArray[np.int64], Floats, NDArray[np.int64]]]:
    """The samples of some triangles, whose corners are sorted from top to bottom."""
    x, y, depth = points
    top, middle, bottom = corners
    one = np.repeat(np.arange(len(rows)), rows)
    row = first[one] + _within(rows)
    at = row + 0.5
    top, middle, bottom = top[one], middle[one], bottom[one]
    upper = at < y[middle]
    start, stop = np.where(upper, top, middle), np.where(upper, middle, bottom)
    long_share = (at - y[top]) / (y[bottom] - y[top])
    fall = y[stop] - y[start]
    short_share = np.where(fall > 0, (at - y[start]) / np.where(fall > 0, fall, 1.0), 0.0)
    x1, x2 = (
        x[a] + (x[b] - x[a]) * s
        for a, b, s in ((top, bottom, long_share), (start, stop, short_share))
    )
    z1, z2 = (
        depth[a] + (depth[b] - depth[a]) * s
        for a, b, s in ((top, bottom, long_share), (start, stop, short_share))
    )
    swap = x2 < x1
    left, right = np.where(swap, x2, x1), np.where(swap, x1, x2)
    z_left, z_right = np.where(swap, z2, z1), np.where(swap, z1, z2)
    begin = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int64)
    end = np.clip(np.ceil(right - 0.5), 0, width).astype(np.int64)
    count = np.maximum(end - begin, 0)
    slope = (z_right - z_left) / np.where(right > left, right - left, 1.0)
    z_begin = z_left + (begin + 0.5 - left) * slope
    place, owner = row * width + begin, face[one]
    ends, done = np.cumsum(count), 0
    low = 0
    while low < len(count):
        high = max(low + 1, int(np.searchsorted(ends, done + _AT_A_TIME, side="right")))
        n = count[low:high]
        step = _within(n)
        yield (
            np.repeat(place[low:high], n) + step,
            np.repeat(z_begin[low:high], n) + step * np.repeat(slope[low:high], n),
            np.repeat(owner[low:high], n),
        )
        low, done = high, int(ends[high - 1])


def _within(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, … for each count, in a row."""
    total = int(counts.sum())
    return np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
