/** Laying things out: pieces in rows, and the boards beside or before them. */
"use strict";

(() => {
  /** Between two things, as a part of the longest side of all pieces. */
  const GAP = 0.16;

  /** Things one after the other, a new row wherever one would not fit. */
  function filled(items, gap, width) {
    const rows = [];
    let right = Infinity;
    for (const item of items) {
      if (right + item.wide > width) {
        rows.push({ items: [], wide: -gap, tall: 0 });
        right = 0;
      }
      const row = rows[rows.length - 1];
      row.items.push(item);
      row.wide += gap + item.wide;
      row.tall = Math.max(row.tall, item.tall);
      right += item.wide + gap;
    }
    const wide = Math.max(0, ...rows.map((row) => row.wide));
    return { rows, wide, tall: rows.reduce((sum, row) => sum + row.tall + gap, -gap) };
  }

  /** All ways to lay things in rows, from one row to one for each. */
  function blocks(items, gap) {
    const all = items.reduce((sum, item) => sum + item.wide + gap, 0);
    const widest = Math.max(...items.map((item) => item.wide));
    return items.map((_, i) => filled(items, gap, Math.max(all / (i + 1), widest)));
  }

  /** The places of a block's things, its middle at a point. */
  function* placed(block, gap, [x, y]) {
    let top = y + block.tall / 2;
    for (const row of block.rows) {
      let left = x - row.wide / 2;
      for (const item of row.items) {
        yield [item, left, top - row.tall / 2 - item.tall / 2];
        left += item.wide + gap;
      }
      top -= row.tall + gap;
    }
  }

  /** Two blocks side by side, or the second before the first: how large, and their middles. */
  function* together(first, second, gap) {
    const [wide, tall] = [first.wide + gap + second.wide, first.tall + gap + second.tall];
    yield {
      size: [wide, Math.max(first.tall, second.tall)],
      blocks: [
        [first, [(first.wide - wide) / 2, 0]],
        [second, [(wide - second.wide) / 2, 0]],
      ],
    };
    yield {
      size: [Math.max(first.wide, second.wide), tall],
      blocks: [
        [first, [0, (tall - first.tall) / 2]],
        [second, [0, (second.tall - tall) / 2]],
      ],
    };
  }

  function* layouts(pieces, boards, gap) {
    for (const first of blocks(pieces, gap)) {
      if (!boards.length) yield { size: [first.wide, first.tall], blocks: [[first, [0, 0]]] };
      for (const second of boards.length ? blocks(boards, gap) : []) {
        yield* together(first, second, gap);
      }
    }
  }

  const sized = ({ id, box: [low, high] }) => {
    return { id, low, wide: high[0] - low[0], tall: high[1] - low[1] };
  };

  /**
   * Where things go that are laid out.
   * @param {{id: string, box: number[][]}[]} pieces with their boxes [[x, y, z], [x, y, z]]
   * @param {{id: string, box: number[][]}[]} boards the same, with lids
   * @param {number} proportion how many times as wide as deep the room for them is
   * @returns {Map<string, number[]>} for each a shift [x, y, z]; the lowest points come to 0
   */
  window.fabkitRows = (pieces, boards, proportion) => {
    const [items, others] = [pieces.map(sized), boards.map(sized)];
    const gap = GAP * Math.max(...items.map((item) => Math.max(item.wide, item.tall)));
    let best = null;
    for (const layout of layouts(items, others, gap)) {
      const [wide, tall] = layout.size;
      const room = Math.max(wide / proportion, tall);
      if (!best || room < best.room) best = { layout, room };
    }
    const found = new Map();
    for (const [block, middle] of best.layout.blocks) {
      for (const [item, x, y] of placed(block, gap, middle)) {
        found.set(item.id, [x - item.low[0], y - item.low[1], -item.low[2]]);
      }
    }
    return found;
  };
})();
