// What is drawn over the robot: forces, centre of mass, ZMP, capture point, support polygon, footprints, frames.

const LAYER_COLOURS = {
  forces: '#f07f13', com: '#16a3b8', zmp: '#d6318f', capture: '#7c4dff', support: '#22a06b', footprints: '#8792a2',
  outlines: '#2f7de1', collision: '#e69b22', frames: '#8792a2', pushes: '#d92d20',
};

class Layers {
  constructor(stage, data, robot, size) {
    Object.assign(this, { stage, data, robot, size });
    this.groups = {};
    this.contacts = data.contacts.map(contact => this.contact(contact));
    this.points = {};
    for (const [name, text] of Object.entries(data.points)) this.points[name] = unpack(text, 'f4');
    this.build();
  }

  contact(data) {
    return {
      ...data,
      matrix: new THREE.Matrix4().fromArray(data.placement),
      wrench: data.wrench ? unpack(data.wrench, 'f4') : null,
      active: data.active ? unpack(data.active, 'u1') : null,
    };
  }

  build() {
    if (this.contacts.some(c => c.wrench && c.wrench.some(w => w !== 0))) this.layer('forces', 'Forces', true, this.buildForces());
    this.pushes = this.data.events.filter(event => event.body >= 0 && event.force.some(f => f !== 0));
    if (this.pushes.length) this.layer('pushes', 'Pushes', true, this.buildPushes());
    if (this.points.com) this.layer('com', 'Centre of mass', true, this.buildCom());
    if (this.points.zmp) this.layer('zmp', 'ZMP', true, this.disc(LAYER_COLOURS.zmp, 0.016));
    if (this.points.capture_point) this.layer('capture', 'Capture point', true, this.ring(LAYER_COLOURS.capture));
    if (this.contacts.some(c => c.active && c.active.includes(1))) this.layer('support', 'Support polygon', true, this.buildSupport());
    if (this.data.footprints.length) this.layer('footprints', 'Footprints', true, this.buildFootprints());
    if (this.data.outlines.length) this.layer('outlines', 'Planned steps', true, this.buildOutlines());
    if (this.data.collision.length) {
      this.layer('collision', this.data.collision_kind === 'volumes' ? 'Collision volumes' : 'Collision shapes', false, null);
    }
    this.layer('frames', 'Frames', false, null);
  }

  layer(name, title, shown, group) {
    this.groups[name] = { name, title, shown, group };
    if (group) { group.visible = shown; this.stage.scene.add(group); }
  }

  // Layers that are rarely asked for are built when they are.
  show(name, shown) {
    const layer = this.groups[name];
    if (shown && !layer.group) {
      layer.group = name === 'frames' ? this.buildFrames() : this.buildCollision();
      this.stage.scene.add(layer.group);
    }
    layer.shown = shown;
    if (layer.group) layer.group.visible = shown;
  }

  plain(colour, opacity = 1) {
    return new THREE.MeshBasicMaterial({ color: colour, transparent: opacity < 1, opacity, depthWrite: opacity === 1, side: THREE.DoubleSide, toneMapped: false });
  }

  // Always visible, also through the robot.
  marker(geometry, colour) {
    const group = new THREE.Group();
    const hidden = this.plain(colour, 0.45);
    hidden.depthTest = false;
    const behind = new THREE.Mesh(geometry, hidden);
    behind.renderOrder = 8;
    const front = new THREE.Mesh(geometry, this.plain(colour));
    group.add(behind, front);
    return group;
  }

  disc(colour, share) {
    const geometry = new THREE.CylinderGeometry(share * this.size, share * this.size, 0.004 * this.size, 32);
    geometry.rotateX(Math.PI / 2);
    return this.marker(geometry, colour);
  }

  ring(colour) {
    return this.marker(new THREE.RingGeometry(0.017 * this.size, 0.026 * this.size, 40), colour);
  }

  arrow(group, colour) {
    const arrow = new THREE.Group();
    const shaft = this.marker(new THREE.CylinderGeometry(1, 1, 1, 16), colour);
    const head = this.marker(new THREE.ConeGeometry(1, 1, 20), colour);
    arrow.add(shaft, head);
    group.add(arrow);
    return { arrow, shaft, head };
  }

  buildForces() {
    const group = new THREE.Group();
    this.arrows = this.contacts.filter(c => c.wrench).map(contact => ({ contact, ...this.arrow(group, LAYER_COLOURS.forces) }));
    return group;
  }

  buildPushes() {
    const group = new THREE.Group();
    this.pushes = this.pushes.map(event => ({ event, ...this.arrow(group, LAYER_COLOURS.pushes) }));
    return group;
  }

  buildCom() {
    const group = new THREE.Group();
    const ball = new THREE.Mesh(new THREE.SphereGeometry(0.028 * this.size, 32, 24), new THREE.MeshBasicMaterial({ map: comTexture(), depthTest: false, transparent: true, toneMapped: false }));
    ball.geometry.rotateX(Math.PI / 2);
    ball.renderOrder = 9;
    const line = new THREE.Line(new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(new Float32Array(6), 3)), new THREE.LineBasicMaterial({ color: LAYER_COLOURS.com, transparent: true, opacity: 0.55, depthTest: false }));
    line.frustumCulled = false;
    line.renderOrder = 8;
    const foot = this.disc(LAYER_COLOURS.com, 0.011);
    this.com = { ball, line, foot };
    group.add(line, foot, ball);
    return group;
  }

  buildSupport() {
    const group = new THREE.Group();
    const positions = () => new THREE.BufferAttribute(new Float32Array(3 * 64), 3);
    const fill = new THREE.Mesh(new THREE.BufferGeometry().setAttribute('position', positions()), this.plain(LAYER_COLOURS.support, 0.26));
    const edge = new THREE.Line(new THREE.BufferGeometry().setAttribute('position', positions()), new THREE.LineBasicMaterial({ color: LAYER_COLOURS.support, toneMapped: false }));
    fill.geometry.setIndex(new THREE.BufferAttribute(new Uint16Array(3 * 62), 1));
    fill.frustumCulled = edge.frustumCulled = false;
    fill.renderOrder = 1;
    this.support = { fill, edge };
    group.add(fill, edge);
    return group;
  }

  buildFootprints() {
    const group = new THREE.Group();
    this.prints = this.data.footprints.map(print => {
      const corners = print.corners.length > 2 ? print.corners : around(print.corners, 0.02 * this.size);
      const points = [...corners, corners[0]].flatMap(p => [p[0], p[1], p[2] + 0.002 * this.size]);
      const geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
      const line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: LAYER_COLOURS.footprints, transparent: true }));
      group.add(line);
      return { print, line };
    });
    return group;
  }

  buildOutlines() {
    const group = new THREE.Group();
    const points = this.data.outlines.flatMap(({ corners }) => corners.flatMap((p, i) => [p, corners[(i + 1) % corners.length]]));
    const geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.Float32BufferAttribute(points.flatMap(p => [p[0], p[1], p[2] + 0.003 * this.size]), 3));
    group.add(new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: LAYER_COLOURS.outlines, transparent: true, opacity: 0.8, toneMapped: false })));
    return group;
  }

  buildFrames() {
    const group = new THREE.Group();
    const length = 0.07 * this.size;
    this.axes = this.robot.groups.map(body => {
      const points = [0, 0, 0, length, 0, 0, 0, 0, 0, 0, length, 0, 0, 0, 0, 0, 0, length];
      const colours = [0.9, 0.2, 0.2, 0.9, 0.2, 0.2, 0.2, 0.7, 0.25, 0.2, 0.7, 0.25, 0.2, 0.4, 0.95, 0.2, 0.4, 0.95];
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
      geometry.setAttribute('color', new THREE.Float32BufferAttribute(colours, 3));
      const lines = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, toneMapped: false }));
      lines.renderOrder = 10;
      group.add(lines);
      return { body, lines };
    });
    return group;
  }

  buildCollision() {
    const group = new THREE.Group();
    this.volumes = [];
    for (const data of this.data.collision) {
      const mesh = new THREE.Mesh(meshGeometry(data), this.plain(LAYER_COLOURS.collision, 0.16));
      mesh.renderOrder = 4;
      const wire = new THREE.Mesh(mesh.geometry, new THREE.MeshBasicMaterial({ color: LAYER_COLOURS.collision, wireframe: true, transparent: true, opacity: 0.22, toneMapped: false }));
      mesh.add(wire);
      group.add(mesh);
      this.volumes.push({ mesh, body: data.body < 0 ? this.robot.fixed : this.robot.groups[data.body] });
    }
    return group;
  }
}

// Corners round a point or a line that has no area of its own.
function around(corners, radius) {
  const hull = hullOf(corners.flatMap(p => Array.from({ length: 12 }, (_, k) => [p[0] + radius * Math.cos(k * Math.PI / 6), p[1] + radius * Math.sin(k * Math.PI / 6)])));
  return hull.map(p => [p[0], p[1], corners[0][2]]);
}

// The usual sign of a centre of mass: quarters in black and white.
function comTexture() {
  const canvas = document.createElement('canvas');
  canvas.width = 64;
  canvas.height = 32;
  const c = canvas.getContext('2d');
  for (let i = 0; i < 4; i++) for (let j = 0; j < 2; j++) {
    c.fillStyle = (i + j) % 2 ? '#ffffff' : '#10131a';
    c.fillRect(16 * i, 16 * j, 16, 16);
  }
  return new THREE.CanvasTexture(canvas);
}
