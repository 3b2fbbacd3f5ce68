// Where the bodies are at any time: frames of the replay, interpolated.

class Motion {
  constructor(data, bodies) {
    this.times = unpack(data.time, 'f8');
    this.positions = unpack(data.positions, 'f4');
    this.turns = unpack(data.turns, 'i2');
    this.bodies = bodies;
    this.a = new THREE.Quaternion();
    this.b = new THREE.Quaternion();
  }

  // Puts each group (one for each body) to its place at time t.
  pose(groups, t) {
    const place = placeAt(this.times, t);
    for (let i = 0; i < this.bodies; i++) this.put(groups[i], place, i);
    return place;
  }

  put(group, place, i) {
    const stride = this.bodies;
    for (const [axis, name] of [[0, 'x'], [1, 'y'], [2, 'z']]) {
      group.position[name] = mixed(this.positions, place, 3 * i + axis, 3 * stride);
    }
    this.read(this.a, 4 * (place.k * stride + i));
    this.read(this.b, 4 * (place.next * stride + i));
    group.quaternion.slerpQuaternions(this.a, this.b, place.share);
  }

  read(quaternion, at) {
    const t = this.turns;
    quaternion.set(t[at], t[at + 1], t[at + 2], t[at + 3]).normalize();
  }
}
