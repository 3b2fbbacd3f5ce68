// Triangles for three.js: positions from 16 bits, normals smooth over small angles and sharp at edges.

const CREASE = Math.cos(48 * Math.PI / 180);

function meshGeometry(data) {
  const points = dequantise(data.vertices), faces = unpack(data.faces, data.wide ? 'u4' : 'u2');
  const corners = new Float32Array(faces.length * 3);
  for (let i = 0; i < faces.length; i++) corners.set(points.subarray(3 * faces[i], 3 * faces[i] + 3), 3 * i);
  const normals = creasedNormals(corners, faces, points.length / 3);
  return sharedCorners(corners, normals, faces, points.length / 3);
}

// Corners at one vertex with about the same normal become one.
function sharedCorners(corners, normals, faces, count) {
  const first = new Int32Array(count).fill(-1), next = [], from = [], index = new Uint32Array(faces.length);
  for (let i = 0; i < faces.length; i++) {
    let made = first[faces[i]];
    while (made >= 0) {
      const k = 3 * from[made];
      if (normals[k] * normals[3 * i] + normals[k + 1] * normals[3 * i + 1] + normals[k + 2] * normals[3 * i + 2] > 0.9995) break;
      made = next[made];
    }
    if (made < 0) {
      made = from.length;
      from.push(i);
      next.push(first[faces[i]]);
      first[faces[i]] = made;
    }
    index[i] = made;
  }
  const pick = values => { const out = new Float32Array(3 * from.length); from.forEach((i, k) => out.set(values.subarray(3 * i, 3 * i + 3), 3 * k)); return out; };
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.BufferAttribute(pick(corners), 3));
  geometry.setAttribute('normal', new THREE.BufferAttribute(pick(normals), 3));
  geometry.setIndex(new THREE.BufferAttribute(index, 1));
  return geometry;
}

// Unit normals of triangles; those without area have none.
function faceNormals(positions) {
  const count = positions.length / 9, out = new Float32Array(3 * count), areas = new Float32Array(count);
  for (let f = 0; f < count; f++) {
    const p = 9 * f;
    const ax = positions[p + 3] - positions[p], ay = positions[p + 4] - positions[p + 1], az = positions[p + 5] - positions[p + 2];
    const bx = positions[p + 6] - positions[p], by = positions[p + 7] - positions[p + 1], bz = positions[p + 8] - positions[p + 2];
    const x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx;
    const length = Math.hypot(x, y, z) || 1;
    out[3 * f] = x / length; out[3 * f + 1] = y / length; out[3 * f + 2] = z / length;
    areas[f] = length;
  }
  return { normals: out, areas };
}

// At each corner the mean of the normals of those triangles at the same vertex that lie about in the same plane.
function creasedNormals(positions, faces, count) {
  const { normals, areas } = faceNormals(positions);
  const starts = new Uint32Array(count + 1);
  for (const vertex of faces) starts[vertex + 1]++;
  for (let i = 0; i < count; i++) starts[i + 1] += starts[i];
  const around = new Uint32Array(faces.length), filled = starts.slice();
  for (let i = 0; i < faces.length; i++) around[filled[faces[i]]++] = (i / 3) | 0;
  const out = new Float32Array(positions.length);
  for (let i = 0; i < faces.length; i++) {
    const f = 3 * ((i / 3) | 0);
    let x = 0, y = 0, z = 0;
    for (let k = starts[faces[i]]; k < starts[faces[i] + 1]; k++) {
      const g = 3 * around[k];
      const dot = normals[f] * normals[g] + normals[f + 1] * normals[g + 1] + normals[f + 2] * normals[g + 2];
      if (dot < CREASE) continue;
      const area = areas[around[k]];
      x += area * normals[g]; y += area * normals[g + 1]; z += area * normals[g + 2];
    }
    const length = Math.hypot(x, y, z) || 1;
    out[3 * i] = x / length; out[3 * i + 1] = y / length; out[3 * i + 2] = z / length;
  }
  return out;
}

// Corners of the convex hull of points [x, y], counter-clockwise (Andrew 1979).
function hullOf(points) {
  const ordered = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  if (ordered.length < 3) return ordered;
  const chain = sequence => {
    const out = [];
    for (const p of sequence) {
      while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 1e-12) out.pop();
      out.push(p);
    }
    out.pop();
    return out;
  };
  return chain(ordered).concat(chain(ordered.reverse()));
}

function turn(a, b, c) { return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]); }
