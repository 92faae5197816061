declare namespace Fabkit {
  // The documents beside the page: data.js (fabkit/output/web/playdata.py) and models.js
  // (fabkit/build/page_assets.py).

  type Messages = Record<string, string>;

  interface Orientation {
    cells: Flat;
    rings: Flat[];
    label: [x: number, y: number, size: number];
    left: number;
    right: number;
    over?: number;
    flip?: number;
    tones?: Flat[];
    /** Cells with marks, by the letter of the mark. */
    marks?: Record<string, Flat>;
    /** What is drawn for them: the look, its centre, and the distance from there to the edge. */
    looks?: [look: string, x: number, y: number, reach: number][];
  }

  /** A place of a board: its centre, the distance from there to its edge, its cells, its row and column. */
  type Spot = [x: number, y: number, reach: number, cells: Flat, row: number, column: number];

  /** What must cover some places: a piece, by its index, a colour or a mark. */
  interface Clue {
    spots: Spot[];
    piece?: number;
    colour?: string;
    mark?: string;
    look?: string;
  }

  /** A choice of a group of a family: a label, its cells, and how a blocker lies on them. */
  type Choice = [text: string, cells: Flat, blocker?: number[]];

  /** Challenges that the page makes when they are chosen; see fabkit/model/puzzle.py. */
  interface Family {
    id: string;
    mark: string;
    title: string;
    prefix: string;
    groups: Choice[][];
    without: string[][];
    blocked: boolean;
    open: number;
    flips: boolean;
    pieces: number[];
    cells: Flat;
    rings: Flat[];
    board?: number;
    clues?: Clue[];
    clueCount?: number;
  }

  interface Piece {
    id: string;
    label: string;
    colour: string;
    /** The name of the nearest basic colour; see fabkit/core/colours.py. */
    hue: string;
    tone: string;
    ink: string;
    markInk: string;
    faint: string;
    plain: number;
    orientations: Orientation[];
  }

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

  interface Entry {
    id: string;
    mark: string;
    title: string;
    kind: string;
    status?: string;
    level?: string;
    stars?: number;
    flips: boolean;
    halves: number;
    pieces: number[];
    count: number;
    cells: Flat;
    rings: Flat[];
    given: Lying[];
    solution?: Lying[];
    order?: number[];
    own?: Own;
    /** Cells that stay open: how many of `cells`, and those besides them; blockers may lie on these. */
    open?: number;
    minus?: Flat;
    blocked?: boolean;
    /** The cells of each blocker. */
    blocks?: Flat[];
    /** How the blockers lie: orientation and frame vector; empty for one that is not made. */
    blockers?: number[][];
    clues?: Clue[];
    /** How many clues there are besides those of the board. */
    clueCount?: number;
    /** The board that it is on, if that has texts. */
    board?: number;
    /** The family that it is a member of, and its choice of each group. */
    family?: Family;
    choice?: number[];
  }

  interface Lattice {
    step: Point;
    basis: [Point, Point];
    kinds: { at: Point; corners: Flat; lines: boolean[]; parts: Record<number, Flat> }[];
  }

  /** The data of a page; that of the front page of several sets has only texts. */
  interface Data {
    name: string;
    title: string;
    defaultLanguage: string;
    unitMm: number;
    ball: number;
    lattice: Lattice;
    levels: string[];
    pieces: Piece[];
    /** The texts of each board: text, centre, size and cells. */
    boards: [text: string, x: number, y: number, size: number, cells: Flat][][];
    entries: Entry[];
    families: Family[];
    titles: Record<string, string[]>;
    translations: Record<string, Messages>;
    /** The current language, and its messages: set by the page. */
    language: string;
    messages: Messages;
  }

  interface Model {
    colours: string[];
    corners: number[];
    triangles: number[];
    mesh: string;
  }

  interface Models {
    pieces: Record<string, Model & { orientations: number[][] }>;
    boards: Record<string, Model & { cells: Flat; rest: number }>;
    lids: Record<string, Model>;
  }
}
