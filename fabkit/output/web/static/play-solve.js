// @ts-check
"use strict";
// A small exact cover search (Knuth's Algorithm X), for challenges whose solution is not stored.
(() => {
  const play = (window.fabkitPlay ??= /** @type {Fabkit.Play} */ ({}));
  const { key, pairs } = play;
  /** So many placements are tried, about a tenth of a second. */
  const MOST_TRIES = 30000;

  /** The placements of the free pieces that the clues of a challenge allow.
   * @type {(game: Fabkit.Game) => Fabkit.Option[]} */
  function optionsOf(game) {
    const { entry, grid } = game;
    const start = game.start();
    const given = [...start].flatMap(([piece, placement]) => game.cells(piece, placement));
    const taken = new Set(given.map(([x, y]) => key(x, y)));
    const free = pairs(entry.cells).filter(([x, y]) => !taken.has(key(x, y)));
    const numbers = new Map(free.map(([x, y], number) => [key(x, y), number]));
    const options = [];
    for (const piece of entry.pieces.filter((one) => !game.fixed.has(one))) {
      const wanted = (entry.clues ?? []).filter((clue) => clue.piece === piece)
        .flatMap(({ spots }) => spots.flatMap((spot) => pairs(spot[3])));
      for (let orientation = 0; orientation < game.count(piece); orientation++) {
        const [[left, low]] = game.shape(piece, orientation).cells;
        for (const [x, y] of free) {
          /** @type {Fabkit.Point} */
          const at = [x - left, y - low];
          if (!grid.isStep(...at)) continue;
          const placement = { orientation, at };
          const cells = game.cells(piece, placement);
          const covered = cells.map((cell) => numbers.get(key(...cell)));
          if (covered.includes(undefined) || cells.some((cell) => game.contradicts(piece, placement, cell))) continue;
          const own = new Set(cells.map((cell) => key(...cell)));
          if (!wanted.every((cell) => own.has(key(...cell)))) continue;
          options.push({ piece, orientation, at, cells: /** @type {number[]} */ (covered) });
        }
      }
    }
    return options;
  }

  /** Finds a solution of a challenge, and the order in which its pieces were found: undefined when the
   * search gives up, null when there is none.
   * @type {Fabkit.Play["solve"]} */
  function solve(data, entry) {
    const game = new play.Game(data, entry);
    const options = optionsOf(game);
    const free = entry.pieces.filter((piece) => !game.fixed.has(piece));
    const size = entry.cells.length / 2;
    // Each cell must be covered if none stays open, each piece used if none stays in the tray.
    const isWhole = !entry.open;
    const usesAll = entry.count === entry.pieces.length;
    if (!isWhole && !usesAll) return undefined;
    const items = options.map(({ piece, cells }) => [...cells, size + free.indexOf(piece)]);
    /** @type {number[][]} */
    const byItem = Array.from({ length: size + free.length }, () => []);
    items.forEach((list, option) => list.forEach((item) => byItem[item].push(option)));
    const given = new Set([...game.start()].flatMap(([piece, placement]) => game.cells(piece, placement)).map(([x, y]) => key(x, y)));
    const toCover = pairs(entry.cells).filter(([x, y]) => !given.has(key(x, y))).map((_, item) => item);
    const primary = [...(isWhole ? toCover : []), ...(usesAll ? free.map((_, number) => size + number) : [])];
    const blocked = new Int32Array(options.length);
    const isDone = new Uint8Array(size + free.length);
    /** @type {number[]} */
    const chosen = [];
    let tries = 0;

    /** @type {(option: number, change: 1 | -1) => void} */
    function mark(option, change) {
      for (const item of items[option]) {
        isDone[item] += change;
        for (const other of byItem[item]) blocked[other] += change;
      }
    }
    /** @returns {boolean} */
    function search() {
      let [best, fewest] = [-1, Infinity];
      for (const item of primary) {
        if (isDone[item]) continue;
        let count = 0;
        for (const option of byItem[item]) count += Number(!blocked[option]);
        if (count < fewest) [best, fewest] = [item, count];
      }
      if (best < 0) return true;
      for (const option of byItem[best]) {
        if (blocked[option] || ++tries > MOST_TRIES) continue;
        mark(option, 1);
        chosen.push(option);
        if (search()) return true;
        chosen.pop();
        mark(option, -1);
      }
      return false;
    }
    if (!search()) return tries > MOST_TRIES ? undefined : null;
    const found = chosen.map((option) => options[option]);
    const solution = found.map(({ piece, orientation, at }) => /** @type {Fabkit.Lying} */ ([piece, orientation, ...at]));
    return { solution: [...entry.given, ...solution], order: found.map(({ piece }) => piece) };
  }

  Object.assign(play, /** @satisfies {Partial<Fabkit.Play>} */ ({ solve }));
})();
