// The robot: one group for each body, with its meshes.

class RobotView {
  constructor(stage, data, bodies, motion, look = {}) {
    this.motion = motion;
    this.root = new THREE.Group();
    this.fixed = new THREE.Group();  // what is fixed to the world
    this.groups = bodies.map(() => new THREE.Group());
    this.root.add(this.fixed, ...this.groups);
    this.materials = new Map();
    this.byBody = new Map();
    for (const mesh of data) this.add(mesh, look);
    stage.scene.add(this.root);
  }

  add(data, look) {
    const mesh = new THREE.Mesh(meshGeometry(data), this.material(data, look));
    mesh.castShadow = mesh.receiveShadow = !look.pale;
    if (look.pale) mesh.renderOrder = 3;
    (data.body < 0 ? this.fixed : this.groups[data.body]).add(mesh);
    if (!this.byBody.has(data.body)) this.byBody.set(data.body, []);
    this.byBody.get(data.body).push(mesh);
  }

  material(data, look) {
    const [r, g, b, opacity] = data.colour;
    const key = look.pale ? 'pale' : data.colour.join();
    if (!this.materials.has(key)) {
      const color = look.pale ? new THREE.Color(look.pale) : new THREE.Color().setRGB(r, g, b, 'srgb');
      const alpha = look.opacity || opacity;
      this.materials.set(key, new THREE.MeshPhongMaterial({
        color, specular: 0x2c2e33, shininess: 38, side: THREE.DoubleSide, transparent: alpha < 1, opacity: alpha, depthWrite: alpha === 1,
        polygonOffset: Boolean(look.pale), polygonOffsetFactor: 2, polygonOffsetUnits: 4,  // behind what it coincides with
      }));
    }
    return this.materials.get(key);
  }

  // Paints some bodies red; none for an empty list.
  highlight(bodies) {
    const key = bodies.join();
    if (key === this.marked) return;
    this.marked = key;
    for (const [body, meshes] of this.byBody) {
      for (const mesh of meshes) {
        if (!mesh.userData.plain) mesh.userData.plain = mesh.material;
        mesh.material = bodies.includes(body) ? this.alarm() : mesh.userData.plain;
      }
    }
  }

  alarm() {
    this.red = this.red || new THREE.MeshPhongMaterial({
      color: '#e0362c', emissive: '#7a0d06', specular: 0x2c2e33, shininess: 38, side: THREE.DoubleSide,
    });
    return this.red;
  }

  update(t) { return this.motion.pose(this.groups, t); }
}

// Centre and radius of a ball round the robot: now, or at some times, seen from a camera that goes with it.
// shift(t): how far the camera has gone at time t.
function robotBall(view, times = [null], shift = () => new THREE.Vector3()) {
  const low = new THREE.Vector3(Infinity, Infinity, Infinity), high = low.clone().negate();
  for (const t of times) {
    if (t !== null) view.update(t);
    growBox(view, low, high, shift(t));
  }
  if (!Number.isFinite(low.x)) return { centre: new THREE.Vector3(), radius: 1, half: null };
  const half = high.clone().sub(low).multiplyScalar(0.5);
  return { centre: low.add(high).multiplyScalar(0.5), radius: Math.max(0.05, half.length()), half };
}

function growBox(view, low, high, shift) {
  const point = new THREE.Vector3();
  view.root.updateMatrixWorld(true);
  view.root.traverse(mesh => {
    if (!mesh.isMesh) return;
    if (!mesh.geometry.boundingBox) mesh.geometry.computeBoundingBox();
    const box = mesh.geometry.boundingBox;
    for (let k = 0; k < 8; k++) {
      point.set(k & 1 ? box.min.x : box.max.x, k & 2 ? box.min.y : box.max.y, k & 4 ? box.min.z : box.max.z);
      mesh.localToWorld(point).sub(shift);
      low.min(point);
      high.max(point);
    }
  });
}
