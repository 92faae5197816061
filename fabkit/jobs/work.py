"""Working through shards: what is in the ledger stays, what is not is done and written there."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence

from fabkit.core.errors import shown
from fabkit.jobs.ledger import Ledger
from fabkit.jobs.pool import Pool
from fabkit.jobs.shard import Shard

__all__ = ["Shard", "run_shards"]


def run_shards(
    shards: Sequence[Shard],
    ledger: Ledger,
    pool: Pool,
    told: Callable[[float], None] | None = None,
) -> list[bytes]:
    """Works on the shards that the ledger does not hold yet, and puts each there as it ends.

    Args:
        shards: of one run, or of one wave of it. They are begun in this order: with the longest
            first, all workers are busy to the end.
        ledger: open.
        pool: where to work.
        told: called with the share that is done, from 0 to 1, never decreasing. Shards of
            earlier runs count at once. What it raises stops the work.

    Returns:
        Their results in the order of `shards`, whatever order they ended in.

    Raises:
        OutsideError: when a worker breaks down twice at a shard, or the ledger cannot be
            written. What had ended before is in the ledger.
        InputError: when a result in the ledger is damaged.
        ValueError: when two shards have the same key, or a weight is not a positive number.
        BaseException: what a shard raises.

    Example:
        >>> import tempfile
        >>> from operator import concat
        >>> from pathlib import Path
        >>> from fabkit.jobs.pool import local_pool
        >>> shards = [Shard("a", concat, (b"a", b"b")), Shard("b", concat, (b"c", b"d"), 3.0)]
        >>> with tempfile.TemporaryDirectory() as folder, local_pool(1) as pool:
        ...     with Ledger(Path(folder), {"letters": "abcd"}) as ledger:
        ...         print(run_shards(shards, ledger, pool, told=print))
        0.0
        0.25
        1.0
        [b'ab', b'cd']
    """
    _check(shards)
    results = {shard.key: ledger.get(shard.key) for shard in shards}
    left = [shard for shard in shards if results[shard.key] is None]
    share = _Share(shards, left, told)
    with contextlib.closing(pool.results(left)) as finished:
        for index, result in finished:
            shard = left[index]
            ledger.put(shard.key, result)
            results[shard.key] = result
            share.done(shard)
    return [result for result in results.values() if result is not None]


class _Share:
    """Adds up weights. All are positive, so the sum never decreases."""

    def __init__(
        self, shards: Sequence[Shard], left: Sequence[Shard], told: Callable[[float], None] | None
    ) -> None:
        self._total = math.fsum(shard.weight for shard in shards)
        self._done = self._total - math.fsum(shard.weight for shard in left)
        self._left = len(left)
        self._told = told
        self._tell()

    def done(self, shard: Shard) -> None:
        self._done += shard.weight
        self._left -= 1
        self._tell()

    def _tell(self) -> None:
        if self._told is not None:  # the sum may be rounded to an end that it has not reached
            self._told(min(self._done / self._total, 1.0) if self._left else 1.0)


def _check(shards: Sequence[Shard]) -> None:
    seen: set[str] = set()
    for shard in shards:
        if shard.key in seen:
            raise ValueError(f"two shards have the key {shown(shard.key)}")
        if not 0 < shard.weight < math.inf:
            raise ValueError(f"the shard {shown(shard.key)} has the weight {shard.weight}")
        seen.add(shard.key)
