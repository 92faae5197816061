// The types of the page's scripts: the documents that they read, and what each offers to the others
// on `window.fabkitPlay`. scripts/types-js checks fabkit/output/web/static/*.js with it; no browser
// loads it.

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

  /** A map that is only asked for keys which it holds. */
  interface FullMap<Key, Content> extends Map<Key, Content> {
    get(key: Key): Content;
  }

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

  // play-grid.js

  /** A kind of cell: its corners, whether a line is drawn from each to the next, and its parts on a finer
   * lattice. */
  interface Kind {
    corners: Point[];
    lines: boolean[];
    parts: Point[];
  }

  interface Shape {
    cells: Point[];
    middle: Point;
    rings: Flat[];
    box: Box;
    /** The marks, by the key of their cell. */
    marks: Map<number, string>;
  }

  interface Grid {
    halves: number;
    ux: number;
    vx: number;
    vy: number;
    kinds: Map<number, Kind>;
    /** The kind of the cell with this centre; undefined where there is no cell. */
    kindOf(x: number, y: number): Kind | undefined;
    shape(orientation: Orientation): Shape;
    isStep(x: number, y: number): boolean;
    nearestStep(x: number, y: number): Point;
    neighbour(step: Point, right: number, up: number): Point;
    toDrawing(x: number, y: number): Point;
    fromDrawing(x: number, y: number): Point;
    path(rings: Flat[]): string;
    cornersOf(cell: Point): Point[];
    edgesOf(cell: Point): [from: Point, to: Point][];
    linesOf(cell: Point): [from: Point, to: Point][];
    cellsPath(cells: Point[]): string;
    ringsOf(cells: Point[]): Flat[];
  }

  // play-game.js

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

  interface State {
    placements: Placements;
    baseline: Counts;
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
    grid: Grid;
    shape(piece: number, orientation: number): Shape;
  }

  interface Game extends Drawable, State {
    entry: Entry;
    region: Set<number>;
    box: Box;
    fixed: Set<number>;
    field: Box;
    totals: Counts;
    past: State[];
    future: State[];
    readonly counts: Counts;
    /** Solutions that are known: the stored one, and those found for hints. */
    known: Solution[];
    /** The clues of each cell, by its key. */
    clues: Map<number, Clue[]>;
    /** The given pieces. */
    readonly given: Map<number, Placement>;
    start(): Placements;
    orientations(piece: number): Orientation[];
    count(piece: number): number;
    shape(piece: number, orientation?: number): Shape;
    cells(piece: number, placement?: Placement): Point[];
    canFlip(piece: number): boolean;
    place(piece: number, placement: Placement): void;
    adjust(piece: number, placement: Placement): void;
    beginStep(): void;
    endStep(): void;
    turned(piece: number, hand: Side): Placement;
    flipped(piece: number): Placement;
    reoriented(piece: number, orientation: number): Placement;
    inTray(piece: number): Placement;
    undo(): boolean;
    redo(): boolean;
    reset(): void;
    computeField(wide?: number, heightPx?: number): Box;
    isInField(piece: number, orientation: number, at: Point): boolean;
    clampToField(piece: number, orientation: number, at: Point): Point;
    contradicts(piece: number, placement: Placement, cell: Point): boolean;
    evaluate(): Verdict;
  }

  // play-store.js

  /** The key of the challenge of a day, and its counts. */
  type DayResult = [name: string, hints: number, moves: number, ms: number];

  interface Store {
    isPersistent: boolean;
    open: string;
    /** The results of days, by their dates. */
    days: Map<string, DayResult>;
    solved: Map<string, number>;
    readonly document: object;
    read(game?: Game | null): boolean;
    importProgress(text: string, game: Game): string;
    isSolved(entry: Entry): boolean;
    tally(entries: Entry[]): [solved: number, count: number];
    bestOf(entry: Entry | string): [moves: number, ms: number] | undefined;
    save(game: Game, solved: boolean): void;
    saveDay(date: string, game: Game): void;
    restore(game: Game): void;
  }

  // play-settings.js

  interface Settings {
    values: { schema: number; language?: string; theme?: string; meter?: boolean; seen?: boolean; deadEnd?: boolean };
    set<Name extends "language" | "theme" | "meter" | "seen" | "deadEnd">(name: Name, setting: Settings["values"][Name]): void;
  }

  interface Zoom {
    step(factor: number): void;
    set(scale: number, x?: number, y?: number): void;
  }

  // play-board.js

  /** The accessible name of a piece. */
  type Name = (piece: number) => string;

  interface Board {
    element: SVGSVGElement;
    groups: FullMap<number, SVGGElement>;
    /** Aspect ratio and height of the available room. */
    readonly room: [wide: number, heightPx: number];
    readonly place: { scale: number; left: number; top: number };
    open(game: Game): void;
    frame(): void;
    update(verdict: Verdict, name: Name, selected: number | null): void;
    raise(piece: number): void;
    celebrate(): void;
    preview(piece: number | null, placement?: Placement | null): void;
    holds(x: number, y: number): boolean;
    surrounds(piece: number, target: EventTarget | null, x: number, y: number): boolean;
  }

  interface Slot {
    button: HTMLButtonElement;
    group: SVGGElement;
    trace: SVGSVGElement;
    /** The outline that a piece on the board leaves in its slot. */
    left: SVGPathElement;
  }

  interface Tray {
    slots: FullMap<number, Slot>;
    open(game: Game): void;
    update(name: Name, selected: number | null): void;
  }

  // play-input.js

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

  interface PieceInput {
    show(): void;
    reorient(turn: (piece: number) => Placement): void;
  }

  // play-session.js

  interface Callbacks {
    announce(text: string): void;
    changed(verdict: Verdict): void;
    ticked(): void;
  }

  interface Session {
    data: Data;
    board: Board;
    tray: Tray;
    game: Game;
    readonly hand: Hand;
    isSolved: boolean;
    open(entry: Entry): void;
    update(): Verdict;
    refit(): void;
    solvedMessage(): string;
    select(piece: number): void;
    hold(piece: number, grip: Grip): void;
    lift(grip: Grip | null): void;
    release(selected?: number | null): void;
    cancel(): boolean;
    drop(placement: Placement): void;
    pieceOf(target: EventTarget | null): number | null;
    parts(piece: number): { element: HTMLElement | SVGElement; drawing: SVGGElement };
    tellDeadEnds(isOn: boolean): void;
    turn(hand: Side): void;
    flip(): void;
    flipInstead(before: Placements): void;
    pickUp(piece: number): void;
    step(right: number, up: number): boolean;
    toTray(): void;
    hint(): void;
    solve(): void;
    loadPlacements(pieces: Stored[]): void;
    undo(): void;
    redo(): void;
    reset(): void;
  }

  // play-challenges.js

  interface ListElements {
    list: HTMLElement;
    kind: HTMLElement;
    unsolved: HTMLInputElement;
    nothing: HTMLElement;
    tally: HTMLElement;
  }

  interface ChallengeList {
    today: Entry;
    build(): void;
    rollOver(): void;
    entryAt(element: Element): Entry | undefined;
    update(open: Entry): void;
    onward(open: Entry): Entry;
    reveal(open: Entry): void;
    neighbour(open: Entry, places: number): Entry;
  }

  // play-families.js

  interface FamilyPicker {
    element: HTMLElement;
    show(entry: Entry | null): void;
  }

  // play-day.js

  interface MonthElements {
    title: HTMLElement;
    grid: HTMLElement;
    total: HTMLElement;
    earlier: HTMLElement;
    later: HTMLElement;
  }

  interface MonthView {
    /** A day of the month that is shown. */
    first: Date;
    show(date: Date): void;
    turn(months: number): void;
  }

  // play-solve.js

  /** A placement, and the numbers of the cells that it covers. */
  interface Option {
    piece: number;
    orientation: number;
    at: Point;
    cells: number[];
  }

  interface Solution {
    solution: Lying[];
    order: number[];
  }

  // play-share.js

  interface Link {
    entry: Entry;
    placements: Stored[];
    hash: string;
  }

  /** What is shared: a link, or a text. */
  interface Shared {
    title: string;
    url?: string;
    text?: string;
  }

  /** The choices of a dialog: values and texts. */
  type Choices = [choice: string, text: string][];

  // viewer-scene.js

  type Box3 = import("three").Box3;
  type BufferGeometry = import("three").BufferGeometry;
  type Matrix4 = import("three").Matrix4;
  type Mesh = import("three").Mesh<BufferGeometry, import("three").Material>;
  type Vector3 = import("three").Vector3;

  interface Scene {
    apart: number;
    readonly parts: Map<string, unknown>;
    frames: number;
    readonly resting: boolean;
    add(id: string, model: Model, bytes: Uint8Array<ArrayBuffer>): void;
    has(id: string): boolean;
    rows(pieces: string[], others: string[]): Map<string, number[]>;
    remove(id: string): void;
    setFaint(ids: Set<string>): void;
    show(places: Map<string, number[]>, parting: string[], moving: boolean, keeping?: boolean): void;
    setApart(share: number): void;
    home(turned?: boolean): void;
    turn(around: number, over: number): void;
    zoom(factor: number): void;
    pan(across: number, up: number): void;
    matrices(): Record<string, number[]>;
  }

  /** The elements of the page that are not plain ones; see `Play.find`. */
  interface Elements {
    board: SVGSVGElement;
    how: HTMLDialogElement;
    days: HTMLDialogElement;
    "dead-end": HTMLInputElement;
    language: HTMLSelectElement;
    theme: HTMLSelectElement;
    unsolved: HTMLInputElement;
  }
  type Found<Name> = Name extends keyof Elements ? Elements[Name] : HTMLElement;

  type Attributes = Record<string, string | number>;

  /** What the scripts offer to each other; each adds its part. */
  interface Play {
    UNIT: number;
    Grid: new (lattice: Lattice, halves: number) => Grid;
    boxOf(rings: Flat[]): Box;
    key(x: number, y: number): number;
    pairs(flat: Flat): Point[];
    complete(data: Data): void;

    Game: new (data: Data, entry: Entry) => Game;
    nextHint(game: Game, limitMs?: number): Hint | null | undefined;
    searchFrom(game: Game): (limitMs: number) => Solution | null | undefined | false;
    applyHint(game: Game, hint: Hint): void;

    Store: new (name: string, entries: Entry[], failed: () => void) => Store;
    /** The document comes from outside: its reader checks what it uses. */
    readItem(key: string): any;
    writeItem(key: string, document: object): boolean;
    serializePlacements(game: Game): Stored[];
    restorePlacements(game: Game, pieces: Stored[]): void;
    /** The lists in a list from outside. */
    lists(list: unknown): any[];

    svg<Tag extends keyof SVGElementTagNameMap>(
      tag: Tag, attributes?: Attributes, ...children: Node[]
    ): SVGElementTagNameMap[Tag];
    html<Tag extends keyof HTMLElementTagNameMap>(
      tag: Tag, properties?: Partial<HTMLElementTagNameMap[Tag]>, ...children: (Node | string)[]
    ): HTMLElementTagNameMap[Tag];
    formatMessage(text: string, values: Record<string, string | number | undefined>): string;
    formatCount(messages: Messages, key: string, count: number): string;
    drawPiece(group: SVGGElement, game: Drawable, piece: number, orientation: number): void;
    redrawPiece(group: SVGGElement, game: Drawable, piece: number, orientation: number): boolean;
    drawRegion(group: SVGGElement, game: Game): void;
    viewBox(grid: Grid, box: Box, margin?: number): [x: number, y: number, width: number, height: number];
    previewGame(data: Data, halves: number): Drawable;
    sizeOf(data: Data, entry: Entry): Point;
    picture(data: Data, entry: Entry, unit: number): SVGSVGElement;

    Settings: new () => Settings;
    Zoom: new (stage: HTMLElement, session: Session) => Zoom;
    fitTray(tray: HTMLElement, maximum: number): number;
    pieceDrawing(piece: number): SVGSVGElement;
    howToSteps(): HTMLLIElement[];

    Board: new (element: SVGSVGElement) => Board;
    Tray: new (element: HTMLElement) => Tray;

    ARROWS: Record<string, Point>;
    PieceInput: new (session: Session) => PieceInput;
    bindKeys(element: HTMLElement, session: Session): void;

    Session: new (
      data: Data, store: Store, elements: { board: SVGSVGElement; tray: HTMLElement }, callbacks: Callbacks
    ) => Session;
    score(messages: Messages, counts: [moves: number, ms: number]): string;

    memberOf(family: Family, places: number[]): Entry | null;
    findEntry(data: Data, id: string): Entry | undefined;
    memberOfDay(data: Data, date: Date): Entry | undefined;
    neighbourMember(entry: Entry, places: number): Entry | null;
    FamilyPicker: new (data: Data, family: Family, open: (member: Entry) => void) => FamilyPicker;
    dateKey(date: Date): string;
    challengeOfDay(data: Data, playable: Entry[], date: Date): Entry;
    streak(days: Map<string, unknown>, date: Date): number;
    watchDate(changed: () => void): () => void;
    resultText(data: Data, store: Store, entry: Entry, date: Date): string | undefined;
    MonthView: new (data: Data, store: Store, elements: MonthElements) => MonthView;
    /** Finds a solution in which the `kept` pieces lie as they do, and the order in which the others were
     * found: null when there is none, undefined when the time is up. The search can be continued until it
     * has an answer. */
    searchWith(game: Game, kept: Map<number, Placement>): (limitMs: number) => Solution | null | undefined;
    solve(game: Game, kept: Map<number, Placement>, limitMs: number): Solution | null | undefined;

    ChallengeList: new (
      data: Data, store: Store, elements: ListElements, open: (entry: Entry) => void
    ) => ChallengeList;
    firstEntry(entries: Entry[]): Entry;
    stars(entry: Entry): HTMLSpanElement;

    parseLink(data: Data, hash: string): Promise<Link>;
    ask(text: string, choices: Choices, ...more: Node[]): Promise<string>;
    share(game: Game, messages: Messages): Promise<string>;
    saveFile(store: Store, data: Data): void;
    deliver(messages: Messages, shared: Shared): Promise<string>;
    openFile(take: (text: string | undefined) => void): void;

    /** The page, for tests. */
    page: object;
  }
}

/** The library of the 3D view: three.js with its controls, as vendor/entry.mjs exports them. */
type Three = typeof import("three") & typeof import("three/addons/controls/OrbitControls.js");

interface Window {
  FABKIT: Fabkit.Data;
  FABKIT_MODELS: Fabkit.Models;
  FABKIT_THREE: Three;
  FabkitScene: {
    new (canvas: HTMLCanvasElement): Fabkit.Scene;
    inflate(model: Fabkit.Model): Promise<Uint8Array<ArrayBuffer>>;
  };
  fabkitPlay: Fabkit.Play;
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
