// Ground, obstacles and objects of the world.

const GRID_VERTEX = `
  varying vec2 place;
  varying vec3 world;
  void main() {
    place = position.xy;
    vec4 at = modelMatrix * vec4(position, 1.0);
    world = at.xyz;
    gl_Position = projectionMatrix * viewMatrix * at;
  }`;
const GRID_FRAGMENT = `
  varying vec2 place;
  varying vec3 world;
  uniform vec3 ink;
  uniform vec3 centre;
  uniform float cell;
  uniform float reach;
  uniform float strength;
  float lines(float width) {
    vec2 at = place / width;
    vec2 near = abs(fract(at - 0.5) - 0.5) / max(fwidth(at), vec2(1e-5));
    return 1.0 - min(min(near.x, near.y), 1.0);
  }
  void main() {
    float fade = 1.0 - smoothstep(0.12 * reach, reach, distance(world, centre));
    float alpha = max(0.4 * lines(cell), lines(5.0 * cell)) * fade * strength;
    if (alpha < 0.004) discard;
    gl_FragColor = vec4(ink, alpha);
  }`;

class Surroundings {
  constructor(stage, data, size) {
    this.stage = stage;
    this.grids = [];
    this.size = size;
    this.group = new THREE.Group();
    stage.scene.add(this.group);
    for (const piece of data.ground) {
      if (piece.kind === 'plane') this.addPlane(piece.point, piece.normal, true);
      else this.addMesh(piece, 'ground');
    }
    for (const thing of data.obstacles) if (thing.kind === 'mesh') this.addMesh(thing, thing.touchable ? 'touchable' : 'obstacle');
    this.moving = data.objects.filter(thing => thing.kind === 'mesh').map(thing => this.addObject(thing, data.time));
    if (!data.ground.length && !data.floats) this.addPlane([0, 0, 0], [0, 0, 1], false);
    stage.theme.listen(() => this.colour());
    this.colour();
  }

  addPlane(point, normal, solid) {
    const reach = 5.5 * this.size, holder = new THREE.Group();
    const cell = roundStep(0.14 * this.size);
    const material = new THREE.ShaderMaterial({
      vertexShader: GRID_VERTEX, fragmentShader: GRID_FRAGMENT, transparent: true, depthWrite: false, side: THREE.DoubleSide,
      uniforms: { ink: { value: new THREE.Color() }, centre: { value: new THREE.Vector3() }, cell: { value: cell }, reach: { value: reach }, strength: { value: 0.3 } },
    });
    const grid = new THREE.Mesh(new THREE.PlaneGeometry(400 * this.size, 400 * this.size), material);
    grid.renderOrder = -2;
    holder.add(grid);
    if (solid) {
      const shade = new THREE.Mesh(new THREE.PlaneGeometry(60 * this.size, 60 * this.size), new THREE.ShadowMaterial({ opacity: 0.3, depthWrite: false }));
      shade.receiveShadow = true;
      shade.renderOrder = -1;
      holder.add(shade);
      this.shade = shade.material;
    }
    holder.position.set(...point);
    holder.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...normal));
    this.group.add(holder);
    this.grids.push({ material });
  }

  addMesh(data, kind) {
    const material = new THREE.MeshPhongMaterial({ specular: 0x101010, shininess: 8, side: THREE.DoubleSide });
    const mesh = new THREE.Mesh(meshGeometry(data), material);
    mesh.matrixAutoUpdate = false;
    mesh.matrix.fromArray(data.pose);
    if (kind === 'obstacle' || kind === 'touchable') Object.assign(material, { transparent: true, opacity: 0.6 });  // nothing hides the robot
    mesh.castShadow = kind !== 'ground';
    mesh.receiveShadow = true;
    mesh.userData.kind = kind;
    this.group.add(mesh);
    return mesh;
  }

  addObject(data, time) {
    const mesh = this.addMesh(data, 'object');
    if (!data.positions) return { mesh };
    mesh.matrixAutoUpdate = true;
    return { mesh, motion: new Motion({ time, positions: data.positions, turns: data.turns }, 1) };
  }

  colour() {
    const dark = this.stage.theme.dark;
    const paint = { ground: dark ? '#3a424f' : '#cdd3db', obstacle: dark ? '#b0793a' : '#e0a458', object: dark ? '#8a6fd1' : '#9a7fe0', touchable: dark ? '#4f9a86' : '#8cc9b8' };
    for (const mesh of this.group.children) if (mesh.userData.kind) mesh.material.color.set(paint[mesh.userData.kind]);
    for (const { material } of this.grids) {
      material.uniforms.ink.value.set(dark ? '#9fb0c8' : '#39465a');
      material.uniforms.strength.value = dark ? 0.3 : 0.26;
    }
    if (this.shade) this.shade.opacity = dark ? 0.55 : 0.26;
  }

  update(t) {
    for (const { material } of this.grids) material.uniforms.centre.value.copy(this.stage.controls.target);
    for (const { mesh, motion } of this.moving) if (motion) motion.pose([mesh], t);
  }
}
