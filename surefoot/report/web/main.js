// Puts the page together: one clock, the replay, the plots and the findings.

class Page {
  constructor(data) {
    this.data = data;
    this.theme = new Theme(document.getElementById('theme'));
    this.frames = unpack(data.scene.time, 'f8');
    this.clock = new Clock(this.frames[0], this.frames[this.frames.length - 1]);
    this.times = data.plots.times.map(text => unpack(text, 'f8'));
    this.fitLimits = true;
    this.findings = data.audit ? data.audit.findings : [];
    this.stances = stancesOf(data.scene.contacts, this.clock);
    this.transport = new Transport(this);
    this.lanes = new Lanes(this, document.getElementById('lanes'));
    this.plots = new PlotPanel(this, document.getElementById('panel-plots'));
    if (data.audit) this.audit = new AuditPanel(this, document.getElementById('panel-audit'), data.audit);
    this.openTab = makeTabs(document.getElementById('tabs'), () => this.plots.redraw());
    this.openTab(data.audit && !data.audit.passed ? 'tab-audit' : 'tab-plots');
    for (const button of document.querySelectorAll('[data-jump]')) button.addEventListener('click', () => this.clock.jump(Number(button.dataset.jump)));
    for (const button of document.querySelectorAll('[data-open]')) button.addEventListener('click', () => this.openTab(button.dataset.open));
    this.clock.listen(() => this.tick());
    this.theme.listen(() => { this.plots.redraw(); this.lanes.draw(); this.drawRelated(); });
    new ResizeObserver(() => this.plots.redraw()).observe(document.getElementById('panel'));
  }

  buildScene() {
    const { scene } = this.data;
    this.stage = new Stage(document.getElementById('scene'), this.theme);
    this.robot = new RobotView(this.stage, scene.meshes, scene.bodies, new Motion(scene, scene.bodies.length));
    const plane = scene.ground.find(piece => piece.kind === 'plane');
    if (plane) this.stage.ground = new THREE.Vector3(...plane.normal);
    const ball = this.ball();
    this.size = Math.max(0.1, 1.6 * ball.radius);
    this.ghosts = scene.ghosts.map(ghost => new RobotView(this.stage, ghost.meshes || scene.meshes, ghost.bodies, new Motion(ghost, ghost.bodies.length), { pale: '#8aa4c8', opacity: 0.3 }));
    this.surroundings = new Surroundings(this.stage, scene, this.size);
    this.layers = new Layers(this.stage, scene, this.robot, this.size);
    this.anchor = this.anchorAt(this.clock.start);
    this.stage.frame(ball.centre, ball.radius, ball.half);
    this.buildChips();
    this.surroundings.colour();
    document.getElementById('reset').addEventListener('click', () => this.resetView());
    this.followButton = document.getElementById('follow');
    this.followButton.addEventListener('click', () => this.setFollow(!this.follow));
    this.setFollow(scene.floats);
  }

  buildChips() {
    const box = document.getElementById('layers');
    const chip = (title, colour, shown, change) => {
      const swatch = element('span', { class: 'swatch' });
      if (colour) swatch.style.background = colour;
      const button = element('button', { type: 'button', class: 'chip', 'aria-pressed': shown, onclick: () => {
        const on = button.getAttribute('aria-pressed') !== 'true';
        button.setAttribute('aria-pressed', on);
        change(on);
        this.tick();
      } }, colour ? swatch : null, title);
      box.append(button);
    };
    for (const layer of Object.values(this.layers.groups)) chip(layer.title, LAYER_COLOURS[layer.name], layer.shown, on => this.layers.show(layer.name, on));
    this.data.scene.ghosts.forEach((ghost, i) => chip(ghost.name, '#8aa4c8', true, on => { this.ghosts[i].root.visible = on; }));
  }

  // What the robot needs during the whole motion, round where it is now.
  ball() {
    const { start, end, time } = this.clock, here = this.anchorAt(time);
    const times = Array.from({ length: 9 }, (_, k) => start + k / 8 * (end - start));
    const shift = t => (this.data.scene.floats ? this.anchorAt(t).sub(here) : new THREE.Vector3());
    const found = robotBall(this.robot, times, shift);
    this.robot.update(time);
    return found;
  }

  // Where the camera looks when it follows: the base, over level ground without its height.
  anchorAt(t) {
    const { scene } = this.data, out = new THREE.Vector3();
    if (!scene.bodies.length) return out;
    const place = placeAt(this.frames, t), stride = 3 * scene.bodies.length, p = this.robot.motion.positions;
    return out.set(mixed(p, place, 0, stride), mixed(p, place, 1, stride), this.isLevel() ? 0 : mixed(p, place, 2, stride));
  }

  isLevel() {
    const { ground } = this.data.scene;
    return ground.length > 0 && ground.every(piece => piece.kind === 'plane' && piece.normal[2] > 0.999);
  }

  setFollow(follow) {
    this.follow = follow;
    this.followButton.setAttribute('aria-pressed', follow);
    this.anchor = this.anchorAt(this.clock.time);
  }

  resetView() {
    const ball = this.ball();
    this.stage.frame(ball.centre, ball.radius, ball.half);
    this.anchor = this.anchorAt(this.clock.time);
    this.tick();
  }

  tick() {
    this.lanes.tick();
    this.plots.tick();
    for (const view of this.related || []) view.drawCursor();
    if (this.stage) this.tickScene(this.clock.time);
  }

  tickScene(t) {
    const place = this.robot.update(t);
    for (const ghost of this.ghosts) ghost.update(t);
    if (this.follow) {
      const now = this.anchorAt(t), by = now.clone().sub(this.anchor);
      this.anchor = now;
      if (by.lengthSq() > 0) this.stage.shift(by);
    }
    const chosen = this.chosen;
    this.robot.highlight(chosen && t >= chosen.start - 0.02 && t <= chosen.end + 0.02 ? this.bodiesOf(chosen.where) : []);
    this.layers.update(place);
    this.surroundings.update(t);
    this.stage.pace(this.clock.playing, this.clock.passed);
    this.stage.invalidate();
  }

  // Bodies that a finding names: joints, links, contacts, or several of them.
  bodiesOf(where) {
    const { scene } = this.data, found = new Set();
    for (const word of where.split(/[^\w.\/:-]+/).concat(where)) {
      for (const list of [scene.bodies, scene.joints]) if (list.includes(word)) found.add(list.indexOf(word));
      for (const contact of scene.contacts) if (contact.name === word) found.add(contact.body);
      if (word in scene.links) found.add(scene.links[word]);
    }
    return [...found];
  }

  // A finding was chosen: the robot goes there, and the plots that tell about it stand below it.
  select(finding, card) {
    this.chosen = finding;
    for (const other of document.querySelectorAll('.card.chosen')) other.classList.remove('chosen');
    document.querySelectorAll('.related').forEach(box => box.remove());
    card.classList.add('chosen');
    const all = this.data.plots.plots.filter(plot => this.concerns(plot, finding));
    const exact = all.filter(plot => finding.where.split(', ').includes(plot.title));
    const plots = (exact.length ? exact : all).slice(0, 2);
    this.related = plots.map(plot => new TimePlot(this, { ...plot, small: true }));
    card.children[0].after(element('div', { class: 'related' }, ...this.related.map(view => view.root)));
    this.drawRelated();
    this.clock.jump(finding.time);
  }

  drawRelated() { for (const view of this.related || []) view.draw(); }

  // Whether a plot shows what a finding is about.
  concerns(plot, finding) {
    const group = this.data.groups_of_items[finding.item];
    if (group && plot.group !== group) return false;
    if (!finding.where) return Boolean(group) && !plot.small;
    return finding.where.split(', ').some(name => plot.title.includes(name) || (Boolean(group) && plot.lines.some(line => line.name === name)));
  }

  // Behind the lines: stances, and findings in red.
  drawBands(axes, plot) {
    for (const stance of this.stances) if (stance.tint) axes.band(stance.start, stance.end, this.theme.value(`--phase-${stance.tint}`));
    for (const finding of this.findings) if (this.concerns(plot, finding)) axes.band(finding.start, finding.end, this.theme.value('--finding'));
  }

  trackColour(name) { return { 'centre of mass': LAYER_COLOURS.com, ZMP: LAYER_COLOURS.zmp, 'capture point': LAYER_COLOURS.capture }[name]; }
}

// Times with the same set of loaded contacts; the set that lasts longest is left white.
function stancesOf(contacts, clock) {
  const told = contacts.filter(contact => contact.spans);
  const edges = new Set([clock.start, clock.end]);
  for (const contact of told) for (const span of contact.spans) span.forEach(t => edges.add(t));
  const times = [...edges].sort((a, b) => a - b), out = [], lasting = new Map();
  for (let i = 0; i + 1 < times.length; i++) {
    const middle = 0.5 * (times[i] + times[i + 1]);
    const key = told.filter(c => c.spans.some(([a, b]) => a <= middle && middle < b)).map(c => c.name).join();
    out.push({ start: times[i], end: times[i + 1], key });
    lasting.set(key, (lasting.get(key) || 0) + times[i + 1] - times[i]);
  }
  const order = [...lasting.keys()].sort((a, b) => lasting.get(b) - lasting.get(a));
  for (const stance of out) stance.tint = Math.min(4, order.indexOf(stance.key));
  return out;
}

function hasWebGL() { return Boolean(document.createElement('canvas').getContext('webgl2')); }

// Plots and tables first; the replay when the browser has drawn them.
function start() {
  const page = new Page(JSON.parse(document.getElementById('data').textContent));
  window.surefoot = {
    clock: page.clock,
    duration: [page.clock.start, page.clock.end],
    seek: t => { page.clock.jump(t); if (page.stage) page.stage.draw(); },
    film: () => { document.body.classList.add('film'); page.stage.resize(); page.resetView(); page.stage.draw(); },
  };
  setTimeout(() => {
    if (hasWebGL()) page.buildScene();
    else document.querySelector('.view').append(element('p', { class: 'no-view' }, 'The replay needs WebGL, which this browser does not support. Plots and tables work.'));
    page.tick();
    document.body.dataset.ready = 'true';
  }, 50);
}

if (document.readyState === 'complete') start();
else window.addEventListener('load', () => setTimeout(start, 0));
