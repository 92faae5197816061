/**
 * The 3D view of the page: the pieces laid out, or put together as a solution says. It begins when
 * it comes into sight; the library, the meshes and the stage are only loaded then.
 */
"use strict";

(() => {
  const SCRIPTS = ["vendor/three.js", "models.js", "viewer-rows.js", "viewer-thing.js", "viewer-stage.js"];
  /** How far a key turns (degrees), shifts (parts of the picture) and nears the view. */
  const TURN = 10;
  const SHIFT = 0.06;
  const NEAR = 1.15;
  /** The view is begun when it is so near to being seen. */
  const AHEAD = "200px";

  const words = window.FABKIT.words;
  const section = document.getElementById("viewer");
  const canvas = document.getElementById("view");
  const slider = document.getElementById("apart");
  const note = document.getElementById("view-note");
  const keys = document.createElement("p");

  let stage = null;
  let begun = null;
  let wish = { kind: "pieces", entry: null };

  /** A text with its places filled; names cannot turn the text around them. */
  const text = (key, places) =>
    words[key].replace(/\{(\w+)\}/g, (_, name) => `\u2068${places[name]}\u2069`);

  const entryOf = (id) => window.FABKIT.entries.find((entry) => entry.id === id);
  const solutionOf = (id) => window.FABKIT_MODELS.solutions[id];

  function load(source) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = source;
      script.async = false;
      script.onload = done;
      script.onerror = () => failed(new Error(source));
      document.head.append(script);
    });
  }

  /** The bytes of a GLB file that was packed as zlib does. */
  function unpacked(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  function canDraw() {
    const context = document.createElement("canvas").getContext("webgl2");
    context?.getExtension("WEBGL_lose_context")?.loseContext();
    return context !== null && typeof DecompressionStream === "function";
  }

  /** A still picture, without the tools for moving it, where nothing can be drawn in 3D. */
  function giveUp() {
    const picture = document.createElement("img");
    picture.src = "still.png";
    picture.alt = text("view_still", { title: window.FABKIT.title });
    picture.id = "view-still";
    canvas.replaceWith(picture);
    keys.remove();
    section.querySelector(".under").hidden = true;
    note.textContent = words.view_none;
  }

  async function begin() {
    if (!canDraw()) return giveUp();
    note.textContent = words.view_loading;
    try {
      await Promise.all(SCRIPTS.map(load));
      const made = new window.FabkitStage(canvas, window.FABKIT_THREE);
      const { pieces, boards, lids } = window.FABKIT_MODELS;
      for (const [id, packed] of Object.entries({ ...pieces, ...boards, ...lids })) {
        await made.add(id, await unpacked(packed));
      }
      stage = made;
    } catch {
      return giveUp();
    }
    show(false);
  }

  /** Pieces and boards that are laid out: those of a challenge, or all, with the lids. */
  function laidOut(entry) {
    const { pieces, boards, lids } = window.FABKIT_MODELS;
    const board = entry && solutionOf(entry.id)?.board;
    const used = entry
      ? entry.pieces.map((place) => window.FABKIT.pieces[place].id)
      : Object.keys(pieces);
    const others = entry ? [board].filter(Boolean) : Object.keys({ ...boards, ...lids });
    const boxed = (id) => ({ id, box: stage.box(id) });
    const rows = window.fabkitRows(used.map(boxed), others.map(boxed), stage.proportion);
    const places = new Map();
    for (const [id, shift] of rows) {
      places.set(id, { matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, ...shift, 1], away: [0, 0, 0] });
    }
    return places;
  }

  function putTogether(solution) {
    const places = new Map();
    for (const [id, [matrix, away]] of Object.entries(solution.pieces)) {
      places.set(id, { matrix, away });
    }
    if (solution.board) {
      const matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
      places.set(solution.board, { matrix, away: [0, 0, 0] });
    }
    return places;
  }

  /** Shows what is wished for; pieces are seen to move there. */
  function show(moving) {
    if (!stage) return;
    const entry = wish.entry && entryOf(wish.entry);
    const solution = wish.kind === "solution" && entry ? solutionOf(entry.id) : null;
    slider.disabled = !solution;
    stage.apart = solution ? slider.value / slider.max : 0;
    stage.show(solution ? putTogether(solution) : laidOut(entry), moving);
    const places = { title: window.FABKIT.title, challenge: entry?.title };
    const key = solution ? "view_solution" : entry ? "view_entry" : "view_pieces";
    canvas.setAttribute("aria-label", text(key, places));
    const lacking = wish.kind === "solution" && entry && !solution;
    // Who opens a challenge hears its title, and not also this.
    note.setAttribute("aria-live", wish.kind === "entry" ? "off" : "polite");
    note.textContent = text(lacking ? "view_unsolved" : key, places);
  }

  const started = () => (begun ??= begin());

  function wanted(kind) {
    return (event) => {
      wish = { kind, entry: kind === "pieces" ? null : (event.detail?.id ?? null) };
      if (kind === "solution") started();
      show(true);
    };
  }

  function pressed(event) {
    if (!stage || event.ctrlKey || event.altKey || event.metaKey) return;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const arrow = arrows[event.key];
    if (arrow && event.shiftKey) stage.pan(-SHIFT * arrow[0], -SHIFT * arrow[1]);
    else if (arrow) stage.turn(TURN * arrow[0], TURN * arrow[1]);
    else if (event.key === "+" || event.key === "=") stage.zoom(NEAR);
    else if (event.key === "-") stage.zoom(1 / NEAR);
    else if (event.key === "Home") stage.home();
    else return;
    event.preventDefault();
  }

  canvas.setAttribute("role", "img");
  canvas.tabIndex = 0;
  keys.id = "view-keys";
  keys.textContent = words.view_keys;
  section.append(keys);
  canvas.setAttribute("aria-describedby", keys.id);
  canvas.setAttribute("aria-label", text("view_pieces", { title: window.FABKIT.title }));
  canvas.addEventListener("keydown", pressed);
  canvas.addEventListener("pointerdown", () => canvas.focus({ preventScroll: true }));
  // A wheel scrolls the page, until somebody has taken hold of the view.
  const passing = (event) => document.activeElement !== canvas && event.stopPropagation();
  section.addEventListener("wheel", passing, { capture: true, passive: true });
  slider.addEventListener("input", () => stage?.setApart(slider.value / slider.max));
  slider.disabled = true;
  document.addEventListener("fabkit:entry", wanted("entry"));
  document.addEventListener("fabkit:solution", wanted("solution"));
  document.addEventListener("fabkit:pieces", wanted("pieces"));
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((one) => one.isIntersecting)) return;
    observer.disconnect();
    started();
  }, { rootMargin: AHEAD }).observe(section);

  /** What is shown, for tests. */
  window.fabkitViewer = Object.freeze({
    get state() {
      return {
        ready: stage !== null,
        resting: stage !== null && stage.resting,
        frames: stage?.frames ?? 0,
        apart: stage?.apart ?? 0,
        shown: { ...wish },
        matrices: stage?.matrices() ?? {},
      };
    },
  });
})();
