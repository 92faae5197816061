// The state of a challenge being played: placements, their evaluation, history and hints. No output.
import { boxOf, cellsKey, Grid, key, pairs, UNIT } from "./play-grid.js";
import { searchWith, solve } from "./play-solve.js";

const MOST_STEPS = 500; // so many steps can be undone
const MOST_MS = 400; // so long a hint is searched
const MOST_SPOILERS = 3; // so many pieces are named as in the way
/** Margin of the field around the region, in grid units. */
const MARGIN = 0.25;
/** There is room to park pieces where a grid unit stays so large. */
const ROOMY_PX = 80;
/** The counters: time in milliseconds, and how often the solution was shown. */
const NOTHING = { hints: 0, moves: 0, ms: 0, shown: 0 };

/** What undoing restores.
 * @typedef {{ placements: Fabkit.Placements, baseline: Fabkit.Counts }} State */

/** One challenge and the placements of its pieces: the orientation, and `at`, the lattice vector that
 * moves it; null in the tray. */
export class Game {
  /** @param {Fabkit.Data} data
   * @param {Fabkit.Entry} entry */
  constructor(data, entry) {
    this.data = data;
    this.entry = entry;
    this.grid = new Grid(data.lattice, entry.halves);
    this.region = new Set(pairs(entry.cells).map(([x, y]) => key(x, y)));
    /** Cells that stay open by name. */
    this.minus = new Set(pairs(entry.minus ?? []).map(([x, y]) => key(x, y)));
    /** The clues of each cell.
     * @type {Map<number, Fabkit.Clue[]>} */
    this.clues = new Map();
    for (const clue of entry.clues ?? []) {
      for (const [x, y] of clue.spots.flatMap((spot) => pairs(spot[3]))) {
        this.clues.set(key(x, y), [...(this.clues.get(key(x, y)) ?? []), clue]);
      }
    }
    this.box = boxOf(entry.rings);
    this.fixed = new Set(entry.given.map(([piece]) => piece));
    this.field = this.computeField();
    this.totals = { ...NOTHING };
    /** The counters at the last reset. */
    this.baseline = NOTHING;
    this.isOpen = false; // whether the current step is unfinished
    /** @type {State[]} */
    this.past = [];
    /** @type {State[]} */
    this.future = [];
    /** The redo history before the current step, restored if that step changes nothing.
     * @type {State[]} */
    this.previousFuture = [];
    this.placements = this.start();
    /** @type {Fabkit.Solution[]} */
    this.known = entry.solution ? [{ solution: entry.solution, order: entry.order ?? [] }] : [];
    /** @type {{ placement: Fabkit.Placement, middle: number[] } | null} */
    this.lastTurn = null;
  }

  /** The counters since the last reset. Placing or removing a piece is a move; rotating is not. */
  get counts() {
    const counts = Object.entries(this.totals).map(([name, count]) => [
      name,
      count - this.baseline[/** @type {keyof Fabkit.Counts} */ (name)],
    ]);
    const differences = /** @type {Fabkit.Counts} */ (Object.fromEntries(counts));
    return { ...differences, moves: differences.moves + Number(this.isMove) };
  }

  /** Whether the current step moves a piece. */
  get isMove() {
    /** @type {(placed: [number, Fabkit.Placement]) => boolean} */
    const moved = ([piece, { at }]) =>
      String(at) !== String(this.past.at(-1)?.placements.get(piece).at);
    return this.isOpen && [...this.placements].some(moved);
  }

  /** The initial placements: all but given pieces in the tray.
   * @type {() => Fabkit.Placements} */
  start() {
    const placements = /** @type {Fabkit.Placements} */ (
      new Map(this.entry.pieces.map((piece) => [piece, { orientation: 0, at: null }]))
    );
    for (const [piece, orientation, x, y] of this.entry.given)
      placements.set(piece, { orientation, at: [x, y] });
    return placements;
  }

  get given() {
    return new Map([...this.start()].filter(([piece]) => this.fixed.has(piece)));
  }

  /** @type {(piece: number) => Fabkit.Orientation[]} */
  orientations(piece) {
    return this.data.pieces[piece].orientations;
  }

  /** The number of orientations that a piece may have in this challenge.
   * @type {(piece: number) => number} */
  count(piece) {
    return this.entry.flips ? this.orientations(piece).length : this.data.pieces[piece].plain;
  }

  /** Cells, centroid and outline of a piece in its orientation, not moved.
   * @type {(piece: number, orientation?: number) => Fabkit.Shape} */
  shape(piece, orientation = this.placements.get(piece).orientation) {
    return this.grid.shape(this.orientations(piece)[orientation]);
  }

  /** The cells that a piece covers; none in the tray.
   * @type {(piece: number, placement?: Fabkit.Placement) => Fabkit.Point[]} */
  cells(piece, { orientation, at } = this.placements.get(piece)) {
    return at ? this.shape(piece, orientation).cells.map(([x, y]) => [x + at[0], y + at[1]]) : [];
  }

  /** The orientation of a piece after turning it over; the same if that is impossible.
   * @param {number} piece */
  turnedOver(piece) {
    const { orientation } = this.placements.get(piece);
    return this.orientations(piece)[orientation][this.entry.flips ? "flip" : "over"] ?? orientation;
  }

  /** @type {(piece: number) => boolean} */
  canFlip(piece) {
    return (
      !this.fixed.has(piece) && this.turnedOver(piece) !== this.placements.get(piece).orientation
    );
  }

  /** Moves a piece as a step that can be undone, unless nothing changes.
   * @type {(piece: number, placement: Fabkit.Placement) => void} */
  place(piece, placement) {
    if (this.fixed.has(piece)) return;
    this.beginStep();
    this.placements.set(piece, placement);
    this.endStep();
  }

  /** Moves a piece as part of the current step.
   * @type {(piece: number, placement: Fabkit.Placement) => void} */
  adjust(piece, placement) {
    this.placements.set(piece, placement);
  }

  /** Begins a step that can be undone, and ends the previous one. */
  beginStep() {
    this.endStep();
    this.past.push(this.state);
    if (this.past.length > MOST_STEPS) this.past.shift();
    this.placements = /** @type {Fabkit.Placements} */ (new Map(this.placements));
    this.isOpen = true;
    [this.previousFuture, this.future] = [this.future, []];
  }

  get state() {
    return { placements: this.placements, baseline: this.baseline };
  }

  /** The placement of a piece after rotating it "left" or "right".
   * @type {(piece: number, hand: Fabkit.Side) => Fabkit.Placement} */
  turned(piece, hand) {
    return this.reoriented(
      piece,
      this.orientations(piece)[this.placements.get(piece).orientation][hand],
    );
  }
  /** @type {(piece: number) => Fabkit.Placement} */
  flipped(piece) {
    return this.reoriented(piece, this.turnedOver(piece));
  }

  /** The placement of a piece in another orientation, with its centroid as near as possible to where it
   * was before the first of several rotations.
   * @type {(piece: number, orientation: number) => Fabkit.Placement} */
  reoriented(piece, orientation) {
    const before = this.placements.get(piece);
    const { at: old } = before;
    if (!old) return { orientation, at: null };
    const moved = this.shape(piece).middle.map((value, axis) => value + old[axis]);
    const middle = this.lastTurn?.placement === before ? this.lastTurn.middle : moved;
    const now = this.shape(piece, orientation).middle;
    const at = this.clampToField(
      piece,
      orientation,
      this.grid.nearestStep(middle[0] - now[0], middle[1] - now[1]),
    );
    this.lastTurn = { placement: { orientation, at }, middle };
    return this.lastTurn.placement;
  }

  /** The placement of a piece in the tray, in its current orientation.
   * @type {(piece: number) => Fabkit.Placement} */
  inTray(piece) {
    return { orientation: this.placements.get(piece).orientation, at: null };
  }

  /** Ends a step; one that changed nothing is removed from the history. */
  endStep() {
    this.totals.moves += Number(this.isMove);
    this.isOpen = false;
    const before = this.past.at(-1)?.placements;
    /** @type {(placed: [number, Fabkit.Placement]) => boolean} */
    const same = ([piece, placement]) => samePlacement(before?.get(piece), placement);
    if (!before || ![...this.placements].every(same)) return;
    this.past.pop();
    this.future = this.previousFuture;
  }

  undo() {
    return this.swap("past", "future");
  }
  redo() {
    return this.swap("future", "past");
  }

  /** @param {"past" | "future"} back
   * @param {"past" | "future"} on */
  swap(back, on) {
    this.endStep();
    const [from, to] = [this[back], this[on]];
    if (!from.length) return false;
    to.push(this.state);
    Object.assign(this, from.pop());
    return true;
  }

  /** Starts over; the counters begin at zero again, unless this is undone. */
  reset() {
    this.beginStep();
    this.placements = this.start();
    this.endStep();
    this.baseline = { ...this.totals };
  }

  /** The field that pieces cannot leave: the region and a margin in which every free piece fits in every
   * orientation with a step to spare, so that clamping by whole steps succeeds. If an area of this aspect
   * ratio and height has room for it, pieces can be parked to the right or below, whichever is drawn larger.
   * @type {(wide?: number, heightPx?: number) => Fabkit.Box} */
  computeField(wide = 1, heightPx = Infinity) {
    const [unit, margin] = [1, MARGIN].map((room) =>
      this.grid.fromDrawing(room * UNIT, -room * UNIT),
    );
    const free = this.entry.pieces.filter((piece) => !this.fixed.has(piece));
    const boxesByPiece = free.map((piece) =>
      this.orientations(piece)
        .slice(0, this.count(piece))
        .map((_, orientation) => this.shape(piece, orientation).box),
    );
    const boxes = boxesByPiece.flat();
    const room = [this.grid.ux, this.grid.vy].map((step, axis) => {
      const longest = Math.max(...boxes.map((box) => box[axis + 2] - box[axis]));
      const side = this.box[axis + 2] - this.box[axis];
      return Math.max(margin[axis], (longest + step - side) / 2);
    });
    const [left, bottom, right, top] = this.box;
    /** @type {(side: number) => Fabkit.Box} */
    const parkedAt = (side) => {
      const narrowest = boxesByPiece.map((ofPiece) =>
        Math.min(...ofPiece.map((box) => box[side + 2] - box[side])),
      );
      const more = [0, 0];
      more[side] = Math.max(0, Math.max(...narrowest) + unit[side] - room[side]);
      return [left - room[0], bottom - room[1] - more[1], right + room[0] + more[0], top + room[1]];
    };
    /** @param {Fabkit.Box} box */
    const size = ([x0, y0, x1, y1]) => Math.max((x1 - x0) / unit[0] / wide, (y1 - y0) / unit[1]);
    const [beside, below] = [0, 1].map(parkedAt);
    const parking = size(beside) < size(below) ? beside : below;
    /** @type {Fabkit.Box} */
    const bare = [left - room[0], bottom - room[1], right + room[0], top + room[1]];
    return heightPx / size(parking) >= ROOMY_PX || size(parking) <= size(bare) ? parking : bare;
  }

  /** Whether a piece would be inside the field.
   * @type {(piece: number, orientation: number, at: Fabkit.Point) => boolean} */
  isInField(piece, orientation, at) {
    return this.overflow(piece, orientation, at).every((value) => value === 0);
  }

  /** How far a piece would stick out of the field, to the right and up; negative: left and down.
   * @param {number} piece
   * @param {number} orientation
   * @param {Fabkit.Point} at */
  overflow(piece, orientation, at) {
    const [{ box }, { field }] = [this.shape(piece, orientation), this];
    return [0, 1].map((axis) => {
      const [low, high] = [box[axis] + at[axis], box[axis + 2] + at[axis]];
      if (high > field[axis + 2] + 1e-6) return high - field[axis + 2];
      return low < field[axis] - 1e-6 ? low - field[axis] : 0;
    });
  }

  /** The nearest step that keeps a piece inside the field.
   * @type {(piece: number, orientation: number, at: Fabkit.Point) => Fabkit.Point} */
  clampToField(piece, orientation, at) {
    let [x, y] = at;
    for (
      let [right, up] = this.overflow(piece, orientation, at), i = 0;
      (right || up) && i < 200;
      i++
    ) {
      [x, y] = this.grid.neighbour([x, y], -Math.sign(right), -Math.sign(up));
      [right, up] = this.overflow(piece, orientation, [x, y]);
    }
    return [x, y];
  }

  /** Whether a placed piece is not what a clue demands on one of its cells.
   * @type {(piece: number, placement: Fabkit.Placement, cell: Fabkit.Point) => boolean} */
  contradicts(piece, { orientation, at }, [x, y]) {
    const clues = this.clues.get(key(x, y)) ?? [];
    if (!clues.length || !at) return false;
    const shown = this.shape(piece, orientation).marks.get(key(x - at[0], y - at[1])) ?? "plain";
    return clues.some(
      ({ piece: wanted = piece, colour, mark = shown }) =>
        wanted !== piece || (colour && colour !== this.data.pieces[piece].colour) || mark !== shown,
    );
  }

  /** Evaluates the placements; parked pieces count as outside, too. Those that a solution does not need
   * may stay parked. */
  evaluate() {
    /** The pieces on each cell.
     * @type {Map<number, number[]>} */
    const covered = new Map();
    /** @type {[Fabkit.Point[], Map<number, Set<number>>]} */
    const [doublyCovered, overlaps] = [[], new Map()];
    /** @type {Set<number>[]} */
    const [outside, parked, blocking, against] = [new Set(), new Set(), new Set(), new Set()];
    for (const [piece, placement] of this.placements) {
      const cells = this.cells(piece);
      const inside = cells.filter(([x, y]) => this.region.has(key(x, y)));
      const isBlocking = cells.some(([x, y]) => this.minus.has(key(x, y)));
      if (isBlocking) blocking.add(piece);
      if (inside.length < cells.length) outside.add(piece);
      if (inside.length === 0 && cells.length && !isBlocking) parked.add(piece);
      if (inside.some((cell) => this.contradicts(piece, placement, cell))) against.add(piece);
      for (const [x, y] of cells) {
        const place = key(x, y);
        const others = covered.get(place) ?? [];
        if (others.length === 1) doublyCovered.push([x, y]);
        for (const [a, b] of others.flatMap((other) => [
          [piece, other],
          [other, piece],
        ])) {
          overlaps.set(a, (overlaps.get(a) ?? new Set()).add(b));
        }
        covered.set(place, [...others, piece]);
      }
    }
    const placed = [...this.placements].filter(([piece, { at }]) => at && !parked.has(piece));
    const open = [...this.region].filter((place) => !covered.has(place));
    const isFull =
      open.length === (this.entry.open ?? 0) && !open.some((place) => this.clues.has(place));
    const isExact =
      !doublyCovered.length && outside.size === parked.size && isFull && !against.size;
    const solved = placed.length === this.entry.count && isExact;
    return { doublyCovered, overlaps, outside, parked, blocking, against, solved };
  }
}

/** @type {(before: Fabkit.Placement | undefined, now: Fabkit.Placement) => boolean} */
const samePlacement = (before, now) =>
  before?.orientation === now.orientation && String(before.at) === String(now.at);

/** What is wrong with what lies on the board: pieces that may not lie as they do.
 * @type {(verdict: Fabkit.Verdict, lying: Map<number, Fabkit.Placement>) => number[]} */
function faultyOf({ overlaps, outside, blocking, against }, lying) {
  return [...new Set([...overlaps.keys(), ...outside, ...blocking, ...against])].filter((piece) =>
    lying.has(piece),
  );
}

/** The pieces that lie on the board, parked ones aside.
 * @type {(game: Game, verdict: Fabkit.Verdict) => Map<number, Fabkit.Placement>} */
const lyingOf = ({ placements }, { parked }) =>
  new Map([...placements].filter(([piece, { at }]) => at && !parked.has(piece)));

/** The next hint: the next piece of a solution that keeps what lies on the board, and its placement; or
 * the fewest pieces that have to be taken away first. Null when nothing is left to do, or nothing can be;
 * undefined when none was found in time.
 * @type {(game: Game, limitMs?: number) => Fabkit.Hint | null | undefined} */
export function nextHint(game, limitMs = MOST_MS) {
  const verdict = game.evaluate();
  if (verdict.solved || game.entry.status === "impossible") return null;
  const lying = lyingOf(game, verdict);
  const faulty = faultyOf(verdict, lying);
  const end = performance.now() + limitMs;
  const plan = faulty.length ? null : solutionWith(game, lying, limitMs);
  if (plan) return nextOf(game, plan);
  const isProved = plan === null && !faulty.length;
  if (isProved && lying.size === game.fixed.size) game.entry.status = "impossible";
  const spoilers = plan === null ? fewestSpoilers(game, lying, end) : [];
  if (spoilers.length) return { pieces: spoilers, placement: null };
  // The fewest were not found. These cannot all stay: those that do not lie as in a known solution, else
  // those that overlap or lie where they may not.
  const [known] = isProved || faulty.length ? game.known : [];
  const settled = known ? progress(game, known.solution, lying).settled : game.fixed;
  const unsettled = (known ? [...lying.keys()] : faulty).filter(
    (piece) => !settled.has(piece) && !game.fixed.has(piece),
  );
  if (unsettled.length) return { pieces: unsettled, placement: null };
  return game.entry.status === "impossible" ? null : undefined;
}

/** Prepares the search, in slices, for whether what lies on the board can be completed: each call searches
 * for some ms, and returns null when it cannot be.
 * @type {(game: Game) => (limitMs: number) => Fabkit.Solution | null | undefined | false} */
export function searchFrom(game) {
  const verdict = game.evaluate();
  const lying = lyingOf(game, verdict);
  const isOpen = !verdict.solved && !faultyOf(verdict, lying).length && !knownWith(game, lying);
  const search = isOpen && searchWith(game, lying);
  return (limitMs) => {
    const answer = search ? search(limitMs) : false;
    if (answer) game.known.push(answer);
    return answer;
  };
}

/** @type {(game: Game, kept: Map<number, Fabkit.Placement>) => Fabkit.Solution | undefined} */
function knownWith(game, kept) {
  return game.known.find(
    (known) => progress(game, known.solution, kept).settled.size === kept.size,
  );
}

/** A solution in which some pieces lie as they do: a known one, or one that is found.
 * @type {(game: Game, kept: Map<number, Fabkit.Placement>, limitMs: number) =>
 *   Fabkit.Solution | null | undefined} */
function solutionWith(game, kept, limitMs) {
  const known = knownWith(game, kept);
  if (known) return known;
  const answer = solve(game, kept, limitMs);
  if (answer) game.known.push(answer);
  return answer;
}

/** The fewest pieces without which the others can be continued; none when they are not found in time.
 * @type {(game: Game, lying: Map<number, Fabkit.Placement>, end: number) => number[]} */
function fewestSpoilers(game, lying, end) {
  const movable = [...lying.keys()].filter((piece) => !game.fixed.has(piece));
  for (let count = 1; count <= Math.min(movable.length, MOST_SPOILERS); count++) {
    for (const pieces of choose(movable, count)) {
      const left = end - performance.now();
      if (left < 0) return [];
      const kept = new Map([...lying].filter(([piece]) => !pieces.includes(piece)));
      if (isSound(game, kept) && solutionWith(game, kept, left)) return pieces;
    }
  }
  return [];
}

/** Whether some pieces neither overlap nor lie where they may not.
 * @type {(game: Game, kept: Map<number, Fabkit.Placement>) => boolean} */
function isSound(game, kept) {
  const covered = new Set();
  for (const [piece, placement] of kept) {
    for (const cell of game.cells(piece, placement)) {
      const place = key(...cell);
      if (covered.has(place) || !game.region.has(place) || game.contradicts(piece, placement, cell))
        return false;
      covered.add(place);
    }
  }
  return true;
}

/** The subsets of a size, in order.
 * @type {(pieces: number[], count: number) => Iterable<number[]>} */
function* choose(pieces, count) {
  if (!count) yield [];
  else
    for (const [i, piece] of pieces.entries()) {
      for (const others of choose(pieces.slice(i + 1), count - 1)) yield [piece, ...others];
    }
}

/** The pieces that lie as in a solution, and the places of it that are open. A piece in the place of an
 * identical one is right.
 * @type {(game: Game, solution: Fabkit.Lying[], lying: Map<number, Fabkit.Placement>) =>
 *   { settled: Set<number>, open: Fabkit.Lying[] }} */
function progress(game, solution, lying) {
  const given = new Set([...game.fixed].map((piece) => cellsKey(game.cells(piece))));
  const settled = new Set(game.fixed);
  /** @type {Fabkit.Lying[]} */
  const open = [];
  for (const place of solution.filter((lies) => !given.has(cellsKey(cellsOf(game, lies))))) {
    const owner = occupantOf(game, place, lying, settled);
    if (owner === null) open.push(place);
    else settled.add(owner);
  }
  return { settled, open };
}

/** The next piece of a solution: the one that a person would find first.
 * @type {(game: Game, plan: Fabkit.Solution) => Fabkit.Hint | null} */
function nextOf(game, { solution, order }) {
  const { settled, open } = progress(game, solution, game.placements);
  if (!open.length) return null;
  const ranked = order.flatMap((piece) => open.filter(([own]) => own === piece));
  const [piece, placement] = pieceFor(game, ranked[0] ?? open[0], settled);
  return { pieces: [piece], placement };
}

/** Removes the misplaced pieces of a hint, or places its piece, as part of the current step.
 * @type {(game: Game, hint: Fabkit.Hint) => void} */
export function applyHint(game, { pieces, placement }) {
  for (const piece of pieces) game.adjust(piece, placement ?? game.inTray(piece));
}

/** The cells of a placement in the solution.
 * @type {(game: Game, lying: Fabkit.Lying) => Fabkit.Point[]} */
const cellsOf = (game, [piece, orientation, x, y]) =>
  game.cells(piece, { orientation, at: [x, y] });

/** The cells and marks of an orientation.
 * @type {(game: Game, orientation: Fabkit.Orientation) => string} */
const lookKey = (game, orientation) =>
  cellsKey(game.grid.shape(orientation).cells) + JSON.stringify(orientation.marks ?? "");

/** All that a solution may demand of a piece, to compare two pieces.
 * @type {(game: Game, piece: number) => string} */
function shapes(game, piece) {
  const clues = game.entry.clues ?? [];
  const demanded = [
    clues.some((clue) => clue.colour) && game.data.pieces[piece].colour,
    clues.some((clue) => clue.piece === piece) && piece,
  ];
  const orientations = game.orientations(piece).slice(0, game.count(piece));
  return [
    ...orientations.map((orientation) => lookKey(game, orientation)).sort(),
    ...demanded,
  ].join("|");
}
/** @type {(game: Game, piece: number, other: number) => boolean} */
const interchangeable = (game, piece, other) =>
  piece === other || shapes(game, piece) === shapes(game, other);

/** The piece among some that correctly fills a place of the solution, or null.
 * @type {(game: Game, place: Fabkit.Lying, lying: Map<number, Fabkit.Placement>,
 *   settled: Set<number>) => number | null} */
function occupantOf(game, place, lying, settled) {
  const wanted = cellsKey(cellsOf(game, place));
  /** @param {number} piece */
  const lies = (piece) =>
    !settled.has(piece) &&
    cellsKey(game.cells(piece)) === wanted &&
    interchangeable(game, piece, place[0]) &&
    !game.cells(piece).some((cell) => game.contradicts(piece, game.placements.get(piece), cell));
  return [...lying.keys()].find(lies) ?? null;
}

/** The piece for a place of the solution, its own or an identical one, and its placement.
 * @type {(game: Game, place: Fabkit.Lying, settled: Set<number>) => [number, Fabkit.Placement]} */
function pieceFor(game, place, settled) {
  const [own, orientation, x, y] = place;
  const wanted = lookKey(game, game.orientations(own)[orientation]);
  const piece = /** @type {number} */ (
    [own, ...game.placements.keys()].find(
      (candidate) => !settled.has(candidate) && interchangeable(game, candidate, own),
    )
  );
  const same = game.orientations(piece).findIndex((turned) => lookKey(game, turned) === wanted);
  return [piece, { orientation: same, at: [x, y] }];
}
