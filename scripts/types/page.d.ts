// What the page's scripts have in common beside their modules: a placement, a verdict, what a hand does.
// The documents that they read are in data.d.ts, which scripts/data_types.py writes from the types of Python.

declare namespace Fabkit {
  /** x and y: of the lattice's frame, of a drawing, or of the screen. */
  type Point = [x: number, y: number];
  type Box = [left: number, bottom: number, right: number, top: number];
  /** Points in a flat list: x, y, x, y. */
  type Flat = number[];
  /** A placement in a document; the point moves the orientation. */
  type Lying = [piece: number, orientation: number, x: number, y: number];
  /** A placement in links and in the browser's storage, by the id of the piece; without a point, the
   * piece is in the tray. */
  type Stored = [piece: string, orientation: number, x?: number, y?: number];
  type Side = "left" | "right";
  type Messages = Record<string, string>;
  /** A choice of a group of a family: a label, its cells, and how a blocker lies on them. */
  type Choice = Family["groups"][number][number];

  /** A custom challenge, as links contain it; with the mark of a challenge whose rules it has. */
  interface Own {
    of: string;
    mark?: string;
    halves: number;
    flips: boolean;
    pieces: string[];
    count?: number;
    cells: Flat;
    given: Stored[];
  }

  /** A challenge, once the page has completed it; with the family that it is a member of, and its choice
   * of each group. */
  interface Entry extends EntryDocument {
    title: string;
    own?: Own;
    family?: Family;
    choice?: number[];
  }

  /** The data of a page, with the current language and its messages; that of the front page of several sets
   * has only texts. */
  interface Data extends PageDocument {
    language: string;
    messages: Messages;
  }

  /** A map that is only asked for keys which it holds. */
  interface FullMap<Key, Content> extends Map<Key, Content> {
    get(key: Key): Content;
  }

  interface Shape {
    cells: Point[];
    middle: Point;
    rings: Flat[];
    box: Box;
    /** The marks, by the key of their cell. */
    marks: Map<number, string>;
  }

  interface Placement {
    orientation: number;
    at: Point | null;
  }
  type Placements = FullMap<number, Placement>;

  interface Counts {
    hints: number;
    moves: number;
    ms: number;
    shown: number;
  }

  interface Verdict {
    doublyCovered: Point[];
    overlaps: Map<number, Set<number>>;
    outside: Set<number>;
    parked: Set<number>;
    /** Pieces on cells that stay open. */
    blocking: Set<number>;
    /** Pieces that contradict a clue. */
    against: Set<number>;
    solved: boolean;
  }

  interface Hint {
    pieces: number[];
    placement: Placement | null;
  }

  /** What drawing a piece needs of a game. */
  interface Drawable {
    data: Data;
    grid: import("../../fabkit/output/web/static/play-grid.js").Grid;
    shape(piece: number, orientation: number): Shape;
  }

  /** How a pointer holds a piece: where it went down and is now, the point of the piece that it touched,
   * and how far above the pointer the piece floats. */
  interface Grip {
    id: number;
    from: Point;
    now: Point;
    grab: Point;
    lift: number;
  }

  /** What the player does with the selected piece: nothing; a pointer is down on it; or it is carried, by a
   * pointer or else with the keyboard, since it lay as `before`. */
  type Hand =
    | { state: "idle"; piece: number | null; grip: null }
    | { state: "held"; piece: number; grip: Grip }
    | { state: "carried"; piece: number; grip: Grip | null; before: Placement };
  /** What it is while a pointer is down on a piece. */
  type Held = Hand & { piece: number; grip: Grip };

  interface Solution {
    solution: Lying[];
    order: number[];
  }

  type Box3 = import("three").Box3;
  type BufferGeometry = import("three").BufferGeometry;
  type Matrix4 = import("three").Matrix4;
  type Mesh = import("three").Mesh<BufferGeometry, import("three").Material>;
  type Vector3 = import("three").Vector3;

  type Attributes = Record<string, string | number>;
}

/** The library of the 3D view: three.js with its controls, as vendor/entry.mjs exports them. */
type Three = typeof import("three") & typeof import("three/addons/controls/OrbitControls.js");

interface Window {
  FABKIT: Fabkit.Data;
  FABKIT_MODELS: Fabkit.Models;
  FABKIT_THREE: Three;
  fabkitViewer: object;
}

interface DocumentEventMap {
  "fabkit:language": CustomEvent;
  "fabkit:entry": CustomEvent<{ id: string }>;
  "fabkit:solution": CustomEvent<{ id: string }>;
  "fabkit:pieces": CustomEvent<{ id: null }>;
}

/** An element that was selected by a data attribute, and so has it. */
type Marked = HTMLElement & { dataset: Record<string, string> };

interface ParentNode {
  querySelectorAll(selectors: `[data-${string}]`): NodeListOf<Marked>;
}
