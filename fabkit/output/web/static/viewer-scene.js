// The scene of the 3D view: pieces, light and camera. It renders only when something has changed and is
// independent of the page. Lengths are mm, z points up, as in the set's drawings.

/** The library, which a page loads after this script, but before it makes a scene. */
let three = window.FABKIT_THREE;

const [AZIMUTH, ELEVATION] = [-17, 46]; // initial viewpoint, as in the still image
const VIEW_ANGLE = 28;
const MARGIN = 0.06; // free fraction at each edge of the image
const TRAVEL_MS = 650; // duration of moves
const LEAST_PROPORTION = 0.4; // least ratio of width to depth of a layout
const FAINT = 0.3; // opacity of parts that are out of date
const SAME_REACH = 0.1; // the view is kept if sizes change by at most this fraction
/** Where an image takes longer than this (no graphics card), images have fewer pixels while they change:
 * this fraction of them each way, until nothing has changed for so long. */
const [SLOW_MS, COARSE, STILL_MS] = [60, 0.5, 250];
/** How often to look whether an image is complete. */
const POLL_MS = 4;
/** Rotation (degrees), pan (fraction of the image) and zoom per key press. */
const [TURN, SHIFT, NEAR] = [10, 0.06, 1.15];
/** @type {Record<string, [across: number, up: number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const [SKY, LAMP] = [1.65, 1.95]; // an unshaded level face shows exactly its own colour
/** Edges sharper than this become lines, on meshes with at most this many triangles. */
const [EDGE_DEGREES, MOST_WITH_EDGES] = [30, 20000];
const LINE = { color: 0x111111, transparent: true, opacity: 0.38 };
/** The mesh format: bytes per integer, steps per mm, and the length of a normal. */
const [BYTES, STEPS, NORMAL] = [3, 64, 127];

/** @param {number} degrees */
const radians = (degrees) => (degrees * Math.PI) / 180;
/** @param {number} share */
const smoothstep = (share) => share * share * (3 - 2 * share);
/** The initial direction to the viewer. */
const front = () =>
  new three.Vector3().setFromSphericalCoords(1, radians(90 - ELEVATION), radians(AZIMUTH));
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Decodes the parts of a mesh; the encoder documents the format.
 * @param {Fabkit.Model} model
 * @param {Uint8Array<ArrayBuffer>} bytes */
function decodeMesh({ corners, triangles }, bytes) {
  let offset = 0;
  /** Integers: first the lowest bytes of all, then the next.
   * @param {number} count */
  const whole = (count) => {
    const numbers = new Int32Array(count);
    for (let place = 0; place < BYTES; place++) {
      for (let i = 0; i < count; i++) numbers[i] |= bytes[offset++] << (8 * place);
    }
    return numbers.map((number) => (number >>> 1) ^ -(number & 1));
  };
  /** @type {(count: number, faces: number) => Fabkit.BufferGeometry} */
  const part = (count, faces) => {
    const [places, normals] = [new Float32Array(3 * count), new Float32Array(3 * count)];
    for (let axis = 0; axis < 3; axis++) {
      let step = 0;
      whole(count).forEach((more, i) => (places[3 * i + axis] = (step += more) / STEPS));
    }
    for (let axis = 0; axis < 3; axis++, offset += count) {
      const small = new Int8Array(bytes.buffer, offset, count);
      small.forEach((step, i) => (normals[3 * i + axis] = step / NORMAL));
    }
    let next = 0;
    const index = Uint32Array.from(whole(3 * faces), (below) => {
      const corner = next - below;
      next = Math.max(next, corner + 1);
      return corner;
    });
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(places, 3));
    geometry.setAttribute("normal", new three.BufferAttribute(normals, 3));
    return geometry.setIndex(new three.BufferAttribute(index, 1));
  };
  return corners.map((count, i) => part(count, triangles[i]));
}

/** A piece, board or lid with its mesh and target place. */
class ScenePart {
  /** @param {Fabkit.Model} model
   * @param {Uint8Array<ArrayBuffer>} bytes */
  constructor(model, bytes) {
    this.holder = new three.Group();
    this.holder.matrixAutoUpdate = this.holder.visible = false;
    this.box = new three.Box3();
    this.at = new three.Matrix4();
    this.offset = new three.Vector3();
    /** The matrix from which it travels.
     * @type {Fabkit.Matrix4 | null} */
    this.from = null;
    decodeMesh(model, bytes).forEach((geometry, i) => this._add(model.colours[i], geometry));
  }

  /** @type {(color: string, geometry: Fabkit.BufferGeometry) => void} */
  _add(color, geometry) {
    // Plastic: not metallic, half glossy.
    const material = new three.MeshStandardMaterial({
      color,
      metalness: 0,
      roughness: 0.6,
      polygonOffset: true,
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 1,
    });
    const mesh = new three.Mesh(geometry, material);
    mesh.castShadow = mesh.receiveShadow = true;
    geometry.computeBoundingBox();
    this.box.union(/** @type {Fabkit.Box3} */ (geometry.boundingBox));
    this.holder.add(mesh);
    if (Number(geometry.index?.count) / 3 > MOST_WITH_EDGES) return;
    const edges = new three.EdgesGeometry(geometry, EDGE_DEGREES);
    mesh.add(new three.LineSegments(edges, new three.LineBasicMaterial(LINE)));
  }

  /** @param {boolean} isFaint */
  setFaint(isFaint) {
    this.holder.traverse((object) => {
      const { material } = /** @type {Fabkit.Mesh} */ (object);
      if (!material || !("isMeshStandardMaterial" in material) || material.transparent === isFaint)
        return;
      Object.assign(material, {
        transparent: isFaint,
        opacity: isFaint ? FAINT : 1,
        needsUpdate: true,
      });
    });
  }

  dispose() {
    this.holder.removeFromParent();
    this.holder.traverse((object) => {
      const { geometry, material } = /** @type {Fabkit.Mesh} */ (object);
      geometry?.dispose();
      material?.dispose();
    });
  }

  /** The target matrix, exploded by a share from 0 to 1.
   * @param {number} apart */
  target(apart) {
    return new three.Matrix4()
      .makeTranslation(this.offset.clone().multiplyScalar(apart))
      .multiply(this.at);
  }

  /** Moves it a share of the way from its origin to its target.
   * @param {number} apart
   * @param {number} share */
  put(apart, share) {
    const target = this.target(apart);
    this.holder.matrix.copy(target);
    this.holder.matrixWorldNeedsUpdate = true;
    if (!this.from || share >= 1) return;
    const place = new three.Vector3().setFromMatrixPosition(this.from);
    const turn = new three.Quaternion().setFromRotationMatrix(this.from);
    place.lerp(new three.Vector3().setFromMatrixPosition(target), share);
    turn.slerp(new three.Quaternion().setFromRotationMatrix(target), share);
    this.holder.matrix.compose(place, turn, new three.Vector3(1, 1, 1));
  }

  /** The bounding box, exploded by a share.
   * @param {number} apart */
  boundsAt(apart) {
    return this.box.clone().applyMatrix4(this.target(apart));
  }
}

/** @param {Fabkit.Box3[]} boxes */
const unionOf = (boxes) => boxes.reduce((all, box) => all.union(box), new three.Box3());

/** A part to lay out: its id, its lowest corner, its width and depth.
 * @typedef {{ id: string, min: Fabkit.Vector3, size: number[] }} Item */
/** Items or groups in a row (axis 0) or a column (axis 1).
 * @typedef {{ size: number[], axis: number, gap: number, parts: (Item | Group)[] }} Group */

/** Groups items or groups from left to right (axis 0) or from back to front (axis 1).
 * @type {(parts: (Item | Group)[], axis: number, gap: number) => Group} */
function group(parts, axis, gap) {
  const size = [0, 1].map((side) => Math.max(...parts.map((part) => part.size[side])));
  size[axis] = parts.reduce((sum, part) => sum + gap + part.size[axis], -gap);
  return { size, axis, gap, parts };
}

/** All arrangements in rows, from a single row to one per item.
 * @type {(items: Item[], gap: number) => Group[]} */
function blocks(items, gap) {
  const all = items.reduce((sum, item) => sum + item.size[0] + gap, 0);
  const widest = Math.max(...items.map((item) => item.size[0]));
  return items.map((_, i) => {
    const limit = Math.max(all / (i + 1), widest);
    /** @type {Item[][]} */
    const rows = [];
    let right = Infinity;
    for (const item of items) {
      if (right + item.size[0] > limit) {
        rows.push([]);
        right = 0;
      }
      rows[rows.length - 1].push(item);
      right += item.size[0] + gap;
    }
    return group(
      rows.map((row) => group(row, 0, gap)),
      1,
      gap,
    );
  });
}

/** Yields the items of a group centred at a point, each with its own centre.
 * @type {(group: Item | Group, middle: number[]) => Generator<[Item, number[]], void>} */
function* positions(group, middle) {
  if (!("parts" in group)) return yield [group, middle];
  const { size, axis, gap, parts } = group;
  const sign = axis ? -1 : 1;
  let at = middle[axis] - (sign * size[axis]) / 2;
  for (const part of parts) {
    const side = sign * part.size[axis];
    yield* positions(part, middle.with(axis, at + side / 2));
    at += side + sign * gap;
  }
}

export class ViewerScene {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    three = window.FABKIT_THREE;
    this.canvas = canvas;
    this.parts = /** @type {Fabkit.FullMap<string, ScenePart>} */ (new Map());
    this.apart = this.frames = 0;
    /** Whether an image is wanted, one is being rendered, and images take long. */
    this._waiting = this._isRendering = this._isSlow = false;
    /** The frame in which the wanted image is drawn, and the timer that makes it sharp. */
    this._frame = this._timer = 0;
    this._touched = false;
    /** When the parts began to travel.
     * @type {number | null} */
    this._begin = null;
    this._dirty = true;
    /** The size of what the camera was set for. */
    this._reach = 0;
    this._scene = new three.Scene();
    this._root = new three.Group();
    this._root.rotation.x = -Math.PI / 2;
    this._renderer = new three.WebGLRenderer({ canvas, alpha: true, antialias: true });
    this._renderer.setClearColor(0x000000, 0);
    const shadows = { enabled: true, type: three.PCFShadowMap, autoUpdate: false };
    Object.assign(this._renderer.shadowMap, shadows);
    this._lamp = new three.DirectionalLight(0xffffff, LAMP);
    this._lamp.castShadow = true;
    this._lamp.shadow.mapSize.setScalar(2048);
    Object.assign(this._lamp.shadow, { radius: 5, normalBias: 0.4 });
    const sky = new three.HemisphereLight(0xffffff, 0x8d8578, SKY);
    this._scene.add(this._root, sky, this._lamp, this._lamp.target);
    const shade = new three.ShadowMaterial({ opacity: 0.26, depthWrite: false });
    this._ground = new three.Mesh(new three.PlaneGeometry(1, 1), shade);
    this._ground.receiveShadow = true;
    this._root.add(this._ground);
    this._camera = new three.PerspectiveCamera(VIEW_ANGLE, 1, 1, 10000);
    this._camera.position.copy(front());
    this._controls = new three.OrbitControls(this._camera, canvas);
    this._controls.enableDamping = !isStill();
    this._controls.maxPolarAngle = radians(175);
    // Vertical swipes scroll the page; horizontal ones rotate the view.
    canvas.style.touchAction = "pan-y";
    this._controls.addEventListener("change", () => this.invalidate());
    this._controls.addEventListener("start", () => (this._touched = true));
    canvas.addEventListener("keydown", (event) => this._onKey(event));
    canvas.addEventListener("pointerdown", () => canvas.focus({ preventScroll: true }));
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  /** Decompresses a mesh (zlib).
   * @param {Fabkit.Model} model */
  static async inflate({ mesh }) {
    const bytes = Uint8Array.from(atob(mesh), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** Adds a part, still hidden, from its model and the bytes of its mesh; or replaces its mesh, where
   * it is.
   * @type {(id: string, model: Fabkit.Model, bytes: Uint8Array<ArrayBuffer>) => void} */
  add(id, model, bytes) {
    const part = new ScenePart(model, bytes);
    if (this.has(id)) {
      const { at, offset, holder } = this.parts.get(id);
      Object.assign(part, { at, offset });
      part.holder.visible = holder.visible;
      this.remove(id);
    }
    this.parts.set(id, part);
    this._root.add(part.holder);
    this._dirty = true;
    this.invalidate();
  }

  /** @type {(id: string) => void} */
  remove(id) {
    this.parts.get(id).dispose();
    this.parts.delete(id);
  }

  /** Shows parts as out of date, or all as current.
   * @type {(ids: Set<string>) => void} */
  setFaint(ids) {
    for (const [id, part] of this.parts) part.setFaint(ids.has(id));
    this.invalidate();
  }

  /** @type {(id: string) => boolean} */
  has(id) {
    return this.parts.has(id);
  }

  /** The ratio of width to depth with which a flat layout fills the image. */
  get proportion() {
    const [sine, cosine] = [Math.abs(Math.sin(radians(AZIMUTH))), Math.cos(radians(AZIMUTH))];
    const aspect = this._camera.aspect * Math.sin(radians(ELEVATION));
    const minimum = Math.max(aspect * cosine - sine, LEAST_PROPORTION * cosine);
    return minimum / Math.max(cosine - aspect * sine, sine);
  }

  /** Lays out pieces in rows, and others beside or before them, all with their lowest points at 0.
   * @type {(pieces: string[], others: string[]) => Map<string, number[]>} */
  rows(pieces, others) {
    const [items, more] = [pieces, others].map((ids) =>
      ids.map((id) => {
        const { min, max } = this.parts.get(id).box;
        return { id, min, size: [max.x - min.x, max.y - min.y] };
      }),
    );
    const gap = 0.16 * Math.max(...items.flatMap((item) => item.size));
    /** @type {{ layout: Group, room: number } | null} */
    let best = null;
    for (const first of blocks(items, gap)) {
      for (const second of more.length ? blocks(more, gap) : [null]) {
        for (const axis of [0, 1]) {
          const layout = group(second ? [first, second] : [first], axis, gap);
          const room = Math.max(layout.size[0] / this.proportion, layout.size[1]);
          if (!best || room < best.room) best = { layout, room };
        }
      }
    }
    const { layout } = /** @type {NonNullable<typeof best>} */ (best);
    return new Map(
      [...positions(layout, [0, 0])].map(([{ id, min, size }, [x, y]]) => {
        /** @type {[number, number, number]} */
        const shift = [x - size[0] / 2 - min.x, y - size[1] / 2 - min.y, -min.z];
        return [id, new three.Matrix4().makeTranslation(...shift).toArray()];
      }),
    );
  }

  /** Shows exactly the parts with places, matrices by id; `parting` ones can be exploded. With `moving`
   * they travel there; with `keeping`, the view stays as it is if they take about as much room.
   * @param {Map<string, number[]>} places
   * @param {string[]} parting
   * @param {boolean} moving */
  show(places, parting, moving, keeping = false) {
    const travels = moving && !isStill();
    for (const [id, part] of this.parts) {
      const place = places.get(id);
      part.from = travels && part.holder.visible ? part.holder.matrix.clone() : null;
      part.holder.visible = place !== undefined;
      if (place) part.at.fromArray(place);
      part.offset.setScalar(0);
    }
    // Exploded parts move up and away from their centre.
    const parts = parting.map((id) => this.parts.get(id));
    const boxes = parts.map((part) => part.boundsAt(0));
    const middle = unionOf(boxes).getCenter(new three.Vector3());
    const size = unionOf(boxes).getSize(new three.Vector3());
    parts.forEach((part, i) => {
      boxes[i].getCenter(part.offset).sub(middle).multiplyScalar(0.3);
      part.offset.z = 0.22 * Math.max(size.x, size.y);
    });
    this._begin = travels ? performance.now() : null;
    this._touched &&= keeping;
    this._arrange(keeping);
  }

  /** Explodes the assembly by a share from 0 to 1.
   * @type {(share: number) => void} */
  setApart(share) {
    [this.apart, this._begin] = [share, null];
    this._arrange();
  }

  /** Sets ground and light; and the camera, unless it was moved, or `keeping` and about as near as it
   * was.
   * @param {boolean} [keeping] */
  _arrange(keeping = false) {
    const [together, apart] = [0, 1].map((share) =>
      unionOf(this._shown.map((part) => part.boundsAt(share))),
    );
    const { z } = together.min;
    const reach = together.union(apart).getSize(new three.Vector3()).length() || 1;
    const middle = together.getCenter(new three.Vector3());
    this._ground.position.set(middle.x, middle.y, z - 0.05);
    this._ground.scale.setScalar(12 * reach);
    this._root.updateMatrixWorld(true);
    const target = middle.applyMatrix4(this._root.matrixWorld);
    this._lamp.target.position.copy(target);
    this._lamp.position.copy(target).add(new three.Vector3(-0.62, 1, 0.28).setLength(reach));
    const view = this._lamp.shadow.camera;
    view.left = view.bottom = -reach * 0.6;
    view.right = view.top = reach * 0.6;
    [view.near, view.far] = [reach * 0.1, reach * 2];
    view.updateProjectionMatrix();
    const isSame = Math.abs(reach / this._reach - 1) < SAME_REACH;
    if (!this._touched && !(keeping && isSame)) {
      this._reach = reach;
      this.home(false);
    }
    this._dirty = true;
    this.invalidate();
  }

  /** Fits everything into view, from the initial or the current direction.
   * @type {(turned?: boolean) => void} */
  home(turned = true) {
    if (!this._shown.length) return;
    this._root.updateMatrixWorld(true);
    const corners = this._shown.flatMap((part) => {
      const { min, max } = part.box;
      const place = part.target(this.apart).premultiply(this._root.matrixWorld);
      return [0, 1, 2, 3, 4, 5, 6, 7].map((i) => {
        const [x, y, z] = [(i & 1 ? max : min).x, (i & 2 ? max : min).y, (i & 4 ? max : min).z];
        return new three.Vector3(x, y, z).applyMatrix4(place);
      });
    });
    const { position } = this._camera;
    const towards = turned ? front() : position.clone().sub(this._controls.target).normalize();
    const right = new three.Vector3(0, 1, 0).cross(towards).normalize();
    const up = towards.clone().cross(right);
    const seen = corners.map((corner) => [right, up, towards].map((axis) => corner.dot(axis)));
    const tall = Math.tan(radians(VIEW_ANGLE) / 2) * (1 - 2 * MARGIN);
    // The nearest position that shows every corner, horizontally and vertically.
    const fits = [tall * this._camera.aspect, tall].map((slope, axis) => {
      const [more, less] = [1, -1].map((to) =>
        Math.max(...seen.map((at) => at[2] * slope + to * at[axis])),
      );
      return { middle: (more - less) / 2, height: (more + less) / (2 * slope) };
    });
    const height = Math.max(fits[0].height, fits[1].height);
    const depths = seen.map((at) => at[2]);
    const middle = (Math.min(...depths) + Math.max(...depths)) / 2;
    const across = right.multiplyScalar(fits[0].middle).addScaledVector(up, fits[1].middle);
    position.copy(across).addScaledVector(towards, height);
    this._controls.target.copy(across).addScaledVector(towards, middle);
    this._controls.minDistance = 0.1 * (height - middle);
    this._controls.maxDistance = 6 * (height - middle);
    this._touched = false;
    this.invalidate();
  }

  get _shown() {
    return [...this.parts.values()].filter((part) => part.holder.visible);
  }

  /** Rotates the view by degrees, around the vertical and up or down.
   * @type {(around: number, over: number) => void} */
  turn(around, over) {
    this._touched = true;
    this._controls.rotateLeft(-radians(around));
    this._controls.rotateUp(radians(over));
  }

  /** Zooms in by a factor above 1, out by one below.
   * @type {(factor: number) => void} */
  zoom(factor) {
    this._touched = true;
    this._controls.dollyIn(1 / factor);
  }

  /** Pans by fractions of the image's height, to the right and up.
   * @type {(across: number, up: number) => void} */
  pan(across, up) {
    this._touched = true;
    this._controls.pan(across * this.canvas.clientHeight, -up * this.canvas.clientHeight);
  }

  /** @param {KeyboardEvent} event */
  _onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const arrow = ARROWS[event.key];
    if (arrow && event.shiftKey) this.pan(SHIFT * arrow[0], SHIFT * arrow[1]);
    else if (arrow) this.turn(TURN * arrow[0], TURN * arrow[1]);
    else if (event.key === "+" || event.key === "=") this.zoom(NEAR);
    else if (event.key === "-") this.zoom(1 / NEAR);
    else if (event.key === "Home") this.home();
    else return;
    event.preventDefault();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    this._renderer.setSize(width, height, false);
    this._camera.aspect = width / height;
    this._camera.updateProjectionMatrix();
    if (!this._touched) this.home(false);
    this.invalidate();
  }

  /** Draws in the next frame after the image that is being rendered: in a queue, images would be late. */
  invalidate() {
    this._waiting = true;
    this._schedule(this._isSlow);
  }

  /** @param {boolean} isCoarse */
  _schedule(isCoarse) {
    clearTimeout(this._timer);
    this._timer = 0;
    if (this._isRendering || this._frame) return;
    this._frame = requestAnimationFrame((now) => this._draw(now, isCoarse));
  }

  /** @param {number} now
   * @param {boolean} isCoarse */
  _draw(now, isCoarse) {
    this._frame = 0;
    this._waiting = false;
    this._isRendering = true;
    const share = this._begin === null ? 1 : Math.min((now - this._begin) / TRAVEL_MS, 1);
    for (const part of this.parts.values()) part.put(this.apart, smoothstep(Math.max(share, 0)));
    this._renderer.shadowMap.needsUpdate = this._dirty;
    this._dirty = share < 1;
    if (share >= 1) this._begin = null;
    this._controls.update();
    const ratio = Math.min(devicePixelRatio, 2) * (isCoarse ? COARSE : 1);
    if (this._renderer.getPixelRatio() !== ratio) this._renderer.setPixelRatio(ratio);
    const start = performance.now();
    this._renderer.render(this._scene, this._camera);
    this.frames += 1;
    if (this._begin !== null) this.invalidate();
    this._whenRendered(() => {
      this._isRendering = false;
      if (!isCoarse) this._isSlow = performance.now() - start > SLOW_MS;
      if (this._waiting) this._schedule(this._isSlow);
      else if (isCoarse) this._timer = window.setTimeout(() => this._schedule(false), STILL_MS);
    });
  }

  /** @param {() => void} action */
  _whenRendered(action) {
    const gl = /** @type {WebGL2RenderingContext} */ (this._renderer.getContext());
    const sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const look = () => {
      if (sync && gl.clientWaitSync(sync, 0, 0) === gl.TIMEOUT_EXPIRED)
        return setTimeout(look, POLL_MS);
      if (sync) gl.deleteSync(sync);
      return action();
    };
    look();
  }

  /** Current matrices of visible parts by id, in mm, column-major, z up. */
  matrices() {
    const shown = [...this.parts].filter(([, part]) => part.holder.visible);
    return Object.fromEntries(shown.map(([id, part]) => [id, part.holder.matrix.toArray()]));
  }

  /** Whether nothing moves and the image is up to date. */
  get resting() {
    return (
      !(this._waiting || this._isRendering || this._frame || this._timer) && this._begin === null
    );
  }
}
