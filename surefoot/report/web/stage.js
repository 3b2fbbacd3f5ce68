// The stage: renderer, camera, light and the loop that draws when something changed.

class Stage {
  constructor(canvas, theme) {
    this.canvas = canvas;
    this.theme = theme;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: Stage.samples, alpha: true });
    this.sharpness = Math.min(2, window.devicePixelRatio || 1);
    this.renderer.setPixelRatio(this.sharpness);
    this.renderer.debug.checkShaderErrors = false;  // asking would wait for each shader
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 400);
    this.camera.up.set(0, 0, 1);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.rotateSpeed = 0.8;
    this.controls.maxPolarAngle = 0.98 * Math.PI;
    this.controls.addEventListener('change', () => this.invalidate());
    canvas.style.touchAction = 'pan-y';  // one finger up or down scrolls the page
    this.addLights();
    this.dirty = true;
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    theme.listen(() => this.light());
    this.resize();
    this.light();
  }

  // A studio without reflections: sky and floor, a sun with shadow, a fill from the left and a rim from behind.
  addLights() {
    this.sky = new THREE.HemisphereLight(0xfbfdff, 0xa9abae, 1);
    this.sun = new THREE.DirectionalLight(0xfffdfa, 2);
    this.fill = new THREE.DirectionalLight(0xdfeaff, 0.7);
    this.rim = new THREE.DirectionalLight(0xffffff, 0.8);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 4;
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.012;
    this.scene.add(this.sky, this.sun, this.sun.target, this.fill, this.fill.target, this.rim, this.rim.target);
  }

  light() {
    const dark = this.theme.dark;
    this.sky.intensity = dark ? 0.95 : 1.45;
    this.sun.intensity = dark ? 1.9 : 1.9;
    this.fill.intensity = dark ? 0.4 : 0.5;
    this.rim.intensity = dark ? 1.2 : 0.6;
    this.invalidate();
  }

  // Frames a ball: centre, radius; or a box in it, by half of its edges.
  frame(centre, radius, half = null) {
    this.home = { centre: centre.clone(), radius };
    const direction = this.direction();
    const distance = this.distance(direction, radius, half);
    const middle = centre.clone();
    middle.z += 0.07 * radius;  // room for the chips above its head
    this.controls.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(direction, distance);
    this.controls.minDistance = 0.1 * radius;
    this.controls.maxDistance = 14 * radius;
    this.camera.near = 0.02 * radius;
    this.camera.far = 60 * radius;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.lightAt(centre);
    this.invalidate();
  }

  // From the front right, or from the first other side that is well above the ground.
  direction() {
    const sides = [[1, -0.92], [1, 0.92], [-1, -0.92], [-1, 0.92]].map(([x, y]) => new THREE.Vector3(x, y, 0.42).normalize());
    const height = side => side.dot(this.ground || new THREE.Vector3(0, 0, 1));
    return sides.find(side => height(side) > 0.25) || sides.sort((a, b) => height(b) - height(a))[0];
  }

  // How far the camera must be so that a ball or a box fits.
  distance(direction, radius, half) {
    const up = 0.88 * Math.tan(this.camera.fov * Math.PI / 360), across = up * this.camera.aspect;
    const ball = radius / Math.sin(Math.atan(Math.min(up, across)));
    if (!half) return ball;
    const right = new THREE.Vector3(-direction.y, direction.x, 0).normalize(), above = direction.clone().cross(right);
    let most = 0.72 * ball;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
      const near = corner.dot(direction);
      most = Math.max(most, near + Math.abs(corner.dot(right)) / across, near + Math.abs(corner.dot(above)) / up);
    }
    return most;
  }

  lightAt(centre) {
    const radius = this.home ? this.home.radius : 1;
    this.sun.target.position.copy(centre);
    this.sun.position.copy(centre).add(new THREE.Vector3(1.0, -1.5, 2.3).multiplyScalar(radius));
    for (const [light, x, y, z] of [[this.fill, 0.6, 2.2, 0.9], [this.rim, -2.2, -0.6, 1.4]]) {
      light.target.position.copy(centre);
      light.position.copy(centre).add(new THREE.Vector3(x, y, z).multiplyScalar(radius));
    }
    const shadow = this.sun.shadow.camera;
    shadow.left = shadow.bottom = -1.9 * radius;
    shadow.right = shadow.top = 1.9 * radius;
    shadow.near = 0.1 * radius;
    shadow.far = 8 * radius;
    shadow.updateProjectionMatrix();
  }

  // Moves camera and target together.
  shift(by) {
    this.controls.target.add(by);
    this.camera.position.add(by);
    this.controls.update();
    this.lightAt(this.controls.target);
    this.invalidate();
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
    const key = `${width} ${height} ${this.renderer.getPixelRatio()}`;
    if (key === this.sized) return;
    this.sized = key;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (this.home) this.draw();
  }

  invalidate() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { if (this.asked) this.draw(); });
  }

  draw() {
    this.asked = false;
    this.renderer.render(this.scene, this.camera);
  }

  // On slow machines fewer pixels while it plays; all of them when it stands.
  pace(playing, seconds) {
    if (playing && seconds > 0) this.slowness = 0.7 * (this.slowness || 0.02) + 0.3 * seconds;
    const ratio = playing && this.slowness > 0.12 ? 0.6 * this.sharpness : this.sharpness;
    if (ratio === this.renderer.getPixelRatio()) return;
    this.renderer.setPixelRatio(ratio);
    this.resize();
  }
}

Stage.samples = true;  // several of them a pixel, for smooth edges
