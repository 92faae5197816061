/**
 * The stage of the 3D view: it holds the pieces and moves them, has light and a camera, and draws a
 * picture when something has changed, and only then. It knows nothing of the page around it.
 *
 * Lengths are mm. Pieces lie in a group whose z points up, as in the set's drawings.
 */
"use strict";

(() => {
  /** From where the set is seen at first, in degrees: as in its picture. */
  const AZIMUTH = -17;
  const ELEVATION = 46;
  const VIEW_ANGLE = 28;
  /** Part of the picture that stays free around what is shown. */
  const MARGIN = 0.06;
  /** How long pieces take to their new places. */
  const TRAVEL_MS = 650;
  /** Nothing is laid out narrower than this many times its depth. */
  const LEAST_PROPORTION = 0.4;
  /** Light: a level face that nothing shades has just its own colour. */
  const SKY = 1.65;
  const LAMP = 1.95;
  const SHADOW = 0.26;
  const MOST_PIXELS_EACH = 2;

  const radians = (degrees) => (degrees * Math.PI) / 180;
  const eased = (share) => share * share * (3 - 2 * share);

  class Stage {
    /**
     * @param {HTMLCanvasElement} canvas where it draws
     * @param {object} three the library
     */
    constructor(canvas, three) {
      this.three = three;
      this.canvas = canvas;
      this.things = new Map();
      this.apart = 0;
      this.frames = 0;
      this._waiting = false;
      this._touched = false;
      this._begin = null;
      this._dirty = true;
      this._scene = new three.Scene();
      this._root = new three.Group();
      this._root.rotation.x = -Math.PI / 2;
      this._scene.add(this._root);
      this._renderer = new three.WebGLRenderer({ canvas, alpha: true, antialias: true });
      this._renderer.setClearColor(0x000000, 0);
      this._renderer.shadowMap.enabled = true;
      this._renderer.shadowMap.type = three.PCFShadowMap;
      this._renderer.shadowMap.autoUpdate = false;
      this._light();
      this._camera = new three.PerspectiveCamera(VIEW_ANGLE, 1, 1, 10000);
      this._camera.position.copy(this._front());
      this._controls = new three.OrbitControls(this._camera, canvas);
      this._controls.enableDamping = !this._still();
      this._controls.maxPolarAngle = radians(175);
      // One finger that goes up or down scrolls the page; across, it turns the pieces.
      canvas.style.touchAction = "pan-y";
      this._controls.addEventListener("change", () => this.invalidate());
      this._controls.addEventListener("start", () => (this._touched = true));
      new ResizeObserver(() => this.resize()).observe(canvas);
      this.resize();
    }

    /** The direction to the viewer at first. */
    _front() {
      return new this.three.Vector3().setFromSphericalCoords(1, radians(90 - ELEVATION), radians(AZIMUTH));
    }

    _still() {
      return matchMedia("(prefers-reduced-motion: reduce)").matches;
    }

    _light() {
      const three = this.three;
      this._scene.add(new three.HemisphereLight(0xffffff, 0x8d8578, SKY));
      this._lamp = new three.DirectionalLight(0xffffff, LAMP);
      this._lamp.castShadow = true;
      this._lamp.shadow.mapSize.setScalar(2048);
      this._lamp.shadow.radius = 5;
      this._lamp.shadow.normalBias = 0.4;
      this._scene.add(this._lamp, this._lamp.target);
      const shade = new three.ShadowMaterial({ opacity: SHADOW, depthWrite: false });
      this._ground = new three.Mesh(new three.PlaneGeometry(1, 1), shade);
      this._ground.receiveShadow = true;
      this._root.add(this._ground);
    }

    /**
     * Adds a thing, which is not shown yet.
     * @param {string} id its name
     * @param {ArrayBuffer} content of its GLB file
     */
    async add(id, content) {
      const found = await new this.three.GLTFLoader().parseAsync(content, "");
      const thing = new window.FabkitThing(this.three, found.scene);
      this._root.add(thing.holder);
      this.things.set(id, thing);
    }

    /** How many times as wide as deep something flat shall be to fill the picture. */
    get proportion() {
      const [sine, cosine] = [Math.abs(Math.sin(radians(AZIMUTH))), Math.cos(radians(AZIMUTH))];
      const aspect = this._camera.aspect * Math.sin(radians(ELEVATION));
      const least = Math.max(aspect * cosine - sine, LEAST_PROPORTION * cosine);
      return least / Math.max(cosine - aspect * sine, sine);
    }

    /** The box of a thing as it was drawn: [[x, y, z], [x, y, z]]. */
    box(id) {
      const { min, max } = this.things.get(id).box;
      return [min.toArray(), max.toArray()];
    }

    /**
     * Shows some things at their places, and nothing else.
     * @param {Map<string, {matrix: number[], away: number[]}>} places by id: column by column
     * @param {boolean} moving whether they are seen to go there
     */
    show(places, moving) {
      const travels = moving && !this._still();
      for (const [id, thing] of this.things) {
        const place = places.get(id);
        thing.from = travels && thing.holder.visible ? thing.holder.matrix.clone() : null;
        thing.holder.visible = place !== undefined;
        if (!place) continue;
        thing.at.fromArray(place.matrix);
        thing.away.fromArray(place.away);
      }
      this._begin = travels ? performance.now() : null;
      this._touched = false;
      this._arrange();
    }

    /** Moves the pieces apart by a share from 0 to 1. */
    setApart(share) {
      this.apart = share;
      this._begin = null;
      this._arrange();
    }

    _arrange() {
      const whole = this._shownBox(1).union(this._shownBox(0));
      const reach = whole.getSize(new this.three.Vector3()).length() || 1;
      const middle = whole.getCenter(new this.three.Vector3());
      this._ground.position.set(middle.x, middle.y, this._shownBox(0).min.z - 0.05);
      this._ground.scale.setScalar(12 * reach);
      this._root.updateMatrixWorld(true);
      const target = middle.applyMatrix4(this._root.matrixWorld);
      this._lamp.target.position.copy(target);
      this._lamp.position.copy(target).add(new this.three.Vector3(-0.62, 1, 0.28).setLength(reach));
      const view = this._lamp.shadow.camera;
      view.left = view.bottom = -reach * 0.6;
      view.right = view.top = reach * 0.6;
      [view.near, view.far] = [reach * 0.1, reach * 2];
      view.updateProjectionMatrix();
      if (!this._touched) this.home(false);
      this._dirty = true;
      this.invalidate();
    }

    /** The box around what is shown, apart by a share. */
    _shownBox(apart) {
      const found = new this.three.Box3();
      for (const thing of this._shown()) {
        found.union(thing.box.clone().applyMatrix4(thing.target(apart)));
      }
      return found;
    }

    /** Looks at all that is shown, from the first direction or from where one looks now. */
    home(turned = true) {
      const corners = this._corners();
      if (!corners.length) return;
      const { position } = this._camera;
      const towards = turned ? this._front() : position.clone().sub(this._controls.target).normalize();
      const right = new this.three.Vector3(0, 1, 0).cross(towards).normalize();
      const up = towards.clone().cross(right);
      const seen = corners.map((one) => [right, up, towards].map((axis) => one.dot(axis)));
      const tall = Math.tan(radians(VIEW_ANGLE) / 2) * (1 - 2 * MARGIN);
      // The nearest place from which a picture is wide enough, and tall enough, for every corner.
      const fits = [tall * this._camera.aspect, tall].map((slope, axis) => {
        const more = Math.max(...seen.map((at) => at[2] * slope + at[axis]));
        const less = Math.max(...seen.map((at) => at[2] * slope - at[axis]));
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

    /** The corners of the boxes around all that is shown. */
    _corners() {
      const { Vector3 } = this.three;
      this._root.updateMatrixWorld(true);
      return this._shown().flatMap((thing) => {
        const { min, max } = thing.box;
        const place = thing.target(this.apart).premultiply(this._root.matrixWorld);
        return [0, 1, 2, 3, 4, 5, 6, 7].map((i) => {
          const [x, y, z] = [(i & 1 ? max : min).x, (i & 2 ? max : min).y, (i & 4 ? max : min).z];
          return new Vector3(x, y, z).applyMatrix4(place);
        });
      });
    }

    _shown() {
      return [...this.things.values()].filter((thing) => thing.holder.visible);
    }

    /** Turns the view by degrees, around the vertical and up or down. */
    turn(around, over) {
      const offset = this._camera.position.clone().sub(this._controls.target);
      const at = new this.three.Spherical().setFromVector3(offset);
      at.theta += radians(around);
      at.phi = Math.min(Math.max(at.phi - radians(over), 0.01), this._controls.maxPolarAngle);
      this._camera.position.setFromSpherical(at).add(this._controls.target);
      this._moved();
    }

    /** Goes nearer by a factor above 1, or away by one below. */
    zoom(factor) {
      const offset = this._camera.position.clone().sub(this._controls.target);
      this._camera.position.copy(this._controls.target).addScaledVector(offset, 1 / factor);
      this._moved();
    }

    /** Shifts the view by parts of the picture's height, to the right and upwards. */
    pan(across, up) {
      const away = this._camera.position.distanceTo(this._controls.target);
      const size = 2 * away * Math.tan(radians(VIEW_ANGLE) / 2);
      const axis = (n) => new this.three.Vector3().setFromMatrixColumn(this._camera.matrix, n);
      const shift = axis(0).multiplyScalar(across * size).addScaledVector(axis(1), up * size);
      this._camera.position.add(shift);
      this._controls.target.add(shift);
      this._moved();
    }

    _moved() {
      this._touched = true;
      this.invalidate();
    }

    /** Fits the picture to the canvas. */
    resize() {
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (!width || !height) return;
      this._renderer.setPixelRatio(Math.min(devicePixelRatio, MOST_PIXELS_EACH));
      this._renderer.setSize(width, height, false);
      this._camera.aspect = width / height;
      this._camera.updateProjectionMatrix();
      if (!this._touched) this.home(false);
      this.invalidate();
    }

    /** Asks for a new picture. */
    invalidate() {
      if (this._waiting) return;
      this._waiting = true;
      requestAnimationFrame((now) => this._draw(now));
    }

    _draw(now) {
      this._waiting = false;
      const share = this._begin === null ? 1 : Math.min((now - this._begin) / TRAVEL_MS, 1);
      for (const thing of this.things.values()) thing.put(this.apart, eased(Math.max(share, 0)));
      this._renderer.shadowMap.needsUpdate = this._dirty;
      this._dirty = share < 1;
      if (share >= 1) this._begin = null;
      this._controls.update();
      this._renderer.render(this._scene, this._camera);
      this.frames += 1;
      if (this._begin !== null) this.invalidate();
    }

    /** What is shown now, by id: matrices in mm, column by column, z up. */
    matrices() {
      const shown = [...this.things].filter(([, thing]) => thing.holder.visible);
      return Object.fromEntries(shown.map(([id, thing]) => [id, thing.holder.matrix.toArray()]));
    }

    /** Whether nothing moves, and the picture is up to date. */
    get resting() {
      return !this._waiting && this._begin === null;
    }
  }

  window.FabkitStage = Stage;
})();
