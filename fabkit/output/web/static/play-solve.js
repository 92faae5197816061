// A small exact cover search (Knuth's Algorithm X): solutions that are not stored, and those that
// continue what lies on the board.
import { key, pairs } from "./play-grid.js";

/** @import { Game } from "./play-game.js" */

/** Tries between two looks at the clock. */
const TRIES_PER_LOOK = 64;

/** The placements that the clues of a challenge allow for the pieces that are not kept.
 * @type {(game: Game, free: number[], numbers: Map<number, number>) =>
 *   { piece: number, orientation: number, at: Fabkit.Point, cells: number[] }[]} */
function optionsOf(game, free, numbers) {
  const { entry, grid } = game;
  const options = [];
  const cells = pairs(entry.cells).filter(([x, y]) => numbers.has(key(x, y)));
  for (const piece of free) {
    const wanted = (entry.clues ?? [])
      .filter((clue) => clue.piece === piece)
      .flatMap(({ spots }) => spots.flatMap((spot) => pairs(spot[3]).map(([x, y]) => key(x, y))));
    for (let orientation = 0; orientation < game.count(piece); orientation++) {
      const shape = game.shape(piece, orientation).cells;
      const [[left, low]] = shape;
      for (const [x, y] of cells) {
        /** @type {Fabkit.Point} */
        const at = [x - left, y - low];
        if (!grid.isStep(...at)) continue;
        const keys = shape.map(([dx, dy]) => key(dx + at[0], dy + at[1]));
        const covered = keys.map((place) => numbers.get(place));
        if (covered.includes(undefined) || !wanted.every((place) => keys.includes(place))) continue;
        const placement = { orientation, at };
        const isAgainst =
          game.clues.size &&
          game.cells(piece, placement).some((cell) => game.contradicts(piece, placement, cell));
        if (!isAgainst)
          options.push({ piece, orientation, at, cells: /** @type {number[]} */ (covered) });
      }
    }
  }
  return options;
}

/** Prepares the search for a solution in which some pieces lie as they do; see the declaration.
 * @type {(game: Game, kept: Map<number, Fabkit.Placement>) => (limitMs: number) =>
 *   Fabkit.Solution | null | undefined} */
export function searchWith(game, kept) {
  const { entry } = game;
  const taken = new Set(
    [...kept]
      .flatMap(([piece, placement]) => game.cells(piece, placement))
      .map(([x, y]) => key(x, y)),
  );
  const bare = pairs(entry.cells)
    .map(([x, y]) => key(x, y))
    .filter((place) => !taken.has(place));
  const numbers = new Map(bare.map((place, number) => [place, number]));
  const free = entry.pieces.filter((piece) => !kept.has(piece));
  // Each cell must be covered if none stays open, each piece used if none stays in the tray.
  const isWhole = !entry.open;
  const usesAll = entry.count === entry.pieces.length;
  if (!isWhole && !usesAll) return () => undefined;
  const options = optionsOf(game, free, numbers);
  const size = bare.length;
  const items = options.map(({ piece, cells }) => [...cells, size + free.indexOf(piece)]);
  /** @type {number[][]} */
  const byItem = Array.from({ length: size + free.length }, () => []);
  items.forEach((list, option) => list.forEach((item) => byItem[item].push(option)));
  // And each cell of a clue.
  const toCover = bare.flatMap((place, item) => (isWhole || game.clues.has(place) ? [item] : []));
  const primary = [...toCover, ...(usesAll ? free.map((_, number) => size + number) : [])];
  const blocked = new Int32Array(options.length);
  const isDone = new Uint8Array(size + free.length);
  /** The chosen option of each level, and those to try after it.
   * @type {{ option: number, others: number[] }[]} */
  const levels = [];

  /** @type {(option: number, change: 1 | -1) => void} */
  function mark(option, change) {
    for (const item of items[option]) {
      isDone[item] += change;
      for (const other of byItem[item]) blocked[other] += change;
    }
  }
  /** The options of the item that has the fewest, or null when all are covered. */
  function nextOptions() {
    let [best, fewest] = [-1, Infinity];
    for (const item of primary) {
      if (isDone[item]) continue;
      let count = 0;
      for (const option of byItem[item]) count += Number(!blocked[option]);
      if (count < fewest) [best, fewest] = [item, count];
    }
    return best < 0 ? null : byItem[best].filter((option) => !blocked[option]);
  }
  /** Chooses the next option of the deepest level that has one; returns whether there is any. */
  function advance() {
    for (let level = levels.at(-1); level; level = levels.at(-1)) {
      if (level.option >= 0) mark(level.option, -1);
      level.option = level.others.shift() ?? -1;
      if (level.option >= 0) return (mark(level.option, 1), true);
      levels.pop();
    }
    return false;
  }

  return (limitMs) => {
    const end = performance.now() + limitMs;
    for (let tries = 1; ; tries++) {
      const count = levels.length + kept.size;
      const others = count > entry.count ? [] : nextOptions();
      if (!others && count === entry.count) break;
      levels.push({ option: -1, others: others ?? [] });
      if (!advance()) return null;
      if (tries % TRIES_PER_LOOK === 0 && performance.now() > end) return undefined;
    }
    const lies = [...kept].map(([piece, { orientation, at }]) => [
      piece,
      orientation,
      .../** @type {Fabkit.Point} */ (at),
    ]);
    const added = levels.map(({ option }) => options[option]);
    const solution = [
      ...lies,
      ...added.map(({ piece, orientation, at }) => [piece, orientation, ...at]),
    ];
    return {
      solution: /** @type {Fabkit.Lying[]} */ (solution),
      order: added.map(({ piece }) => piece),
    };
  };
}

/** @type {(game: Game, kept: Map<number, Fabkit.Placement>, limitMs: number) =>
 *   Fabkit.Solution | null | undefined} */
export const solve = (game, kept, limitMs) => searchWith(game, kept)(limitMs);
