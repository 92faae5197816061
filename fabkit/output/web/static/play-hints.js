"use strict";
// Hints: one more piece is put where the stored solution has it.
(() => {
  const play = (window.fabkitPlay ??= {});
  const { key } = play;

  /**
   * Puts one more piece where it belongs. What is in its way goes back to the tray. A piece that lies
   * where an identical one belongs is left there.
   * @param {object} game a `Game`
   * @returns {number | null} which piece; null when none is left, or no solution is stored
   */
  function hint(game) {
    const given = new Set([...game.fixed].map((piece) => spelt(game.cells(piece))));
    const places = (game.entry.solution ?? []).filter((one) => !given.has(spelt(cellsOf(game, one))));
    const settled = new Set(game.fixed);
    const open = [];
    for (const place of places) {
      const owner = ownerOf(game, place, settled);
      if (owner === null) open.push(place);
      else settled.add(owner);
    }
    if (!open.length) return null;
    const place = open.find((one) => isFree(game, one)) ?? open[0];
    const [piece, lying] = moverTo(game, place, settled);
    game.put(piece, lying);
    for (const other of game.judge().overlaps.get(piece) ?? []) {
      if (!game.fixed.has(other)) game.nudge(other, game.taken(other));
    }
    game.asked += 1;
    return piece;
  }

  const spelt = (cells) => cells.map(([x, y]) => key(x, y)).sort((a, b) => a - b).join();

  /** The cells of a place in the solution. */
  const cellsOf = (game, [piece, way, x, y]) => game.cells(piece, { way, at: [x, y] });

  /** All shapes that a piece can show, to tell whether two are the same. */
  function shapes(game, piece) {
    const ways = game.ways(piece).slice(0, game.count(piece));
    return ways.map((way) => spelt(game.grid.shape(way).cells)).sort().join("|");
  }

  const alike = (game, one, other) => one === other || shapes(game, one) === shapes(game, other);

  /** The piece that lies in a place where it, or one like it, belongs; null when none does. */
  function ownerOf(game, place, settled) {
    const wanted = spelt(cellsOf(game, place));
    const lies = (piece) =>
      !settled.has(piece) && spelt(game.cells(piece)) === wanted && alike(game, piece, place[0]);
    return [...game.lying.keys()].find(lies) ?? null;
  }

  function isFree(game, place) {
    const taken = new Set([...game.lying.keys()].flatMap((one) => game.cells(one).map((c) => key(...c))));
    return cellsOf(game, place).every(([x, y]) => !taken.has(key(x, y)));
  }

  /** Which piece goes to a place, and how it lies there: the solution's own, or one like it. */
  function moverTo(game, place, settled) {
    const [own, way, x, y] = place;
    const wanted = spelt(game.shape(own, way).cells);
    const piece = [own, ...game.lying.keys()].find((one) => !settled.has(one) && alike(game, one, own));
    const same = game.ways(piece).findIndex((one) => spelt(game.grid.shape(one).cells) === wanted);
    return [piece, { way: same, at: [x, y] }];
  }

  Object.assign(play, { hint });
})();
