// Where the layers are at a time.

Layers.prototype.update = function (place) {
  this.place = place;
  const shown = name => this.groups[name] && this.groups[name].shown && this.groups[name].group;
  for (const contact of this.contacts) this.placeContact(contact);
  if (shown('forces')) for (const item of this.arrows) this.updateArrow(item);
  if (shown('pushes')) for (const item of this.pushes) this.updatePush(item);
  if (shown('com')) this.updateCom();
  for (const [layer, name] of [['zmp', 'zmp'], ['capture', 'capture_point']]) {
    if (shown(layer)) this.put(this.groups[layer].group, name);
  }
  if (shown('support')) this.updateSupport();
  if (shown('footprints')) this.updateFootprints();
  if (shown('frames')) for (const { body, lines } of this.axes) { lines.position.copy(body.position); lines.quaternion.copy(body.quaternion); }
  if (shown('collision')) for (const { mesh, body } of this.volumes) { mesh.position.copy(body.position); mesh.quaternion.copy(body.quaternion); }
};

Layers.prototype.placeContact = function (contact) {
  const body = contact.body < 0 ? this.robot.fixed : this.robot.groups[contact.body];
  body.updateMatrix();
  contact.world = (contact.world || new THREE.Matrix4()).multiplyMatrices(body.matrix, contact.matrix);
};

Layers.prototype.point = function (name) {
  const values = this.points[name], place = this.place;
  return new THREE.Vector3(mixed(values, place, 0, 3), mixed(values, place, 1, 3), mixed(values, place, 2, 3));
};

Layers.prototype.put = function (group, name) {
  const at = this.point(name);
  group.visible = Number.isFinite(at.x);
  if (group.visible) group.position.copy(at).z += 0.004 * this.size;
};

// Force at the centre of pressure of its contact; the length is in proportion.
Layers.prototype.updateArrow = function ({ contact, arrow, shaft, head }) {
  const w = [0, 1, 2, 3, 4, 5].map(i => mixed(contact.wrench, this.place, i, 6));
  const size = Math.hypot(w[0], w[1], w[2]);
  arrow.visible = size > 0.004 * this.data.weight;
  if (!arrow.visible) return;
  const at = new THREE.Vector3();
  if (w[2] > 0.004 * this.data.weight) at.set(-w[4] / w[2], w[3] / w[2], 0);
  const reach = contact.corners.reduce((most, p) => Math.max(most, Math.hypot(p[0], p[1])), 0);
  if (at.length() > 1.05 * reach) at.setLength(reach);
  const direction = new THREE.Vector3(w[0], w[1], w[2]).transformDirection(contact.world);
  this.stretch({ arrow, shaft, head }, at.applyMatrix4(contact.world), direction, size);
};

// An arrow of a force from a point; its length is in proportion.
Layers.prototype.stretch = function ({ arrow, shaft, head }, at, direction, size) {
  const length = 0.55 * this.size * Math.min(2, size / this.data.weight), thick = 0.0085 * this.size;
  const tip = Math.min(5 * thick, 0.5 * length);
  shaft.scale.set(thick, length - tip, thick);
  shaft.position.set(0, 0.5 * (length - tip), 0);
  head.scale.set(2.4 * thick, tip, 2.4 * thick);
  head.position.set(0, length - 0.5 * tip, 0);
  arrow.position.copy(at);
  arrow.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), direction);
  return length;
};

// A push ends where it acts; it stays a moment longer than it lasts, or nobody would see it.
Layers.prototype.updatePush = function (item) {
  const { event } = item, t = this.robot.motion.times[this.place.k];
  item.arrow.visible = t >= event.start - 1e-9 && t <= Math.max(event.end, event.start + 0.3);
  if (!item.arrow.visible) return;
  const body = this.robot.groups[event.body];
  body.updateMatrix();
  const at = new THREE.Vector3(...event.at).applyMatrix4(body.matrix), force = new THREE.Vector3(...event.force);
  const size = Math.max(force.length(), 0.3 * this.data.weight), direction = force.normalize();
  const length = 0.55 * this.size * Math.min(2, size / this.data.weight);
  this.stretch(item, at.addScaledVector(direction, -length), direction, size);
};

Layers.prototype.updateCom = function () {
  const at = this.point('com'), floor = this.floor(at);
  this.com.ball.position.copy(at);
  this.com.foot.position.set(at.x, at.y, floor + 0.003 * this.size);
  this.com.foot.visible = this.com.line.visible = this.data.ground.length > 0;
  const points = this.com.line.geometry.attributes.position;
  points.setXYZ(0, at.x, at.y, at.z);
  points.setXYZ(1, at.x, at.y, floor);
  points.needsUpdate = true;
};

// Height of the ground below a point: that of the loaded contacts, else of the lowest one.
Layers.prototype.floor = function (at) {
  const active = this.contacts.filter(c => this.isActive(c));
  const heights = (active.length ? active : this.contacts).map(c => c.world.elements[14]);
  if (active.length) return heights.reduce((a, b) => a + b, 0) / heights.length;
  const plane = this.data.ground.find(piece => piece.kind === 'plane');
  return plane ? plane.point[2] - (plane.normal[0] * (at.x - plane.point[0]) + plane.normal[1] * (at.y - plane.point[1])) / plane.normal[2] : Math.min(0, ...heights);
};

Layers.prototype.isActive = function (contact) {
  return contact.active ? contact.active[this.place.share < 0.5 ? this.place.k : this.place.next] === 1 : false;
};

// Corners of all loaded contacts in world.
Layers.prototype.loadedCorners = function () {
  return this.contacts.filter(c => this.isActive(c)).flatMap(c => c.corners.map(p => new THREE.Vector3(...p).applyMatrix4(c.world)));
};

Layers.prototype.updateSupport = function () {
  const corners = this.loadedCorners();
  const hull = hullOf(corners.map(p => [p.x, p.y, p.z + 0.0025 * this.size])).slice(0, 60);
  const { fill, edge } = this.support;
  fill.visible = edge.visible = hull.length > 2;
  if (hull.length < 3) return;
  const inside = fill.geometry.attributes.position, outline = edge.geometry.attributes.position, index = fill.geometry.index;
  hull.forEach((p, i) => { inside.setXYZ(i, ...p); outline.setXYZ(i, ...p); });
  outline.setXYZ(hull.length, ...hull[0]);
  for (let i = 0; i < hull.length - 2; i++) index.set([0, i + 1, i + 2], 3 * i);
  inside.needsUpdate = outline.needsUpdate = index.needsUpdate = true;
  fill.geometry.setDrawRange(0, 3 * (hull.length - 2));
  edge.geometry.setDrawRange(0, hull.length + 1);
};

// Footprints of the past are clear, of the future faint.
Layers.prototype.updateFootprints = function () {
  const t = this.robot.motion.times[this.place.k];
  for (const { print, line } of this.prints) line.material.opacity = print.start <= t + 1e-6 ? 0.95 : 0.3;
};
