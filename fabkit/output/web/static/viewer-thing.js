/** One thing of the 3D view: a piece, board or lid, with its mesh and the place where it shall be. */
"use strict";

(() => {
  /** Edges sharper than this many degrees are drawn as lines, on meshes of so many triangles at most. */
  const EDGE_DEGREES = 30;
  const MOST_WITH_EDGES = 20000;
  const LINE = { color: 0x111111, transparent: true, opacity: 0.38 };

  /** Lengths are mm, and z points up, as in the set's drawings. */
  class Thing {
    /**
     * @param {object} three the library
     * @param {object} model what its GLB file holds
     */
    constructor(three, model) {
      this.three = three;
      this.holder = new three.Group();
      this.holder.matrixAutoUpdate = false;
      this.holder.visible = false;
      // Back from metres with y up to mm with z up.
      model.rotation.x = Math.PI / 2;
      model.scale.setScalar(1000);
      this.holder.add(model);
      this.box = new three.Box3();
      model.updateMatrixWorld(true);
      const meshes = [];
      model.traverse((part) => part.isMesh && meshes.push(part));
      for (const mesh of meshes) {
        this.box.union(new three.Box3().setFromObject(mesh));
        this._finish(mesh);
      }
      this.at = new three.Matrix4();
      this.away = new three.Vector3();
      this.from = null;
    }

    _finish(mesh) {
      const three = this.three;
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.material.polygonOffset = true;
      mesh.material.polygonOffsetFactor = mesh.material.polygonOffsetUnits = 1;
      if (mesh.geometry.index.count / 3 > MOST_WITH_EDGES) return;
      const edges = new three.EdgesGeometry(mesh.geometry, EDGE_DEGREES);
      mesh.add(new three.LineSegments(edges, new three.LineBasicMaterial(LINE)));
    }

    /** Where it shall be, apart by a share from 0 to 1. */
    target(apart) {
      const shift = this.away.clone().multiplyScalar(apart);
      return new this.three.Matrix4().makeTranslation(shift).multiply(this.at);
    }

    /** Puts it a share of the way from where it was to where it shall be. */
    put(apart, share) {
      const target = this.target(apart);
      this.holder.matrix.copy(this.from && share < 1 ? this._between(target, share) : target);
      this.holder.matrixWorldNeedsUpdate = true;
    }

    _between(target, share) {
      const { Matrix4, Quaternion, Vector3 } = this.three;
      const [a, b] = [this.from, target].map((matrix) => {
        const found = [new Vector3(), new Quaternion(), new Vector3()];
        matrix.decompose(...found);
        return found;
      });
      a[0].lerp(b[0], share);
      a[1].slerp(b[1], share);
      return new Matrix4().compose(a[0], a[1], new Vector3(1, 1, 1));
    }
  }

  window.FabkitThing = Thing;
})();
