// Points that move in a plane, with the areas that count at a time; drawn to scale.

class PlaneView {
  constructor(page, data) {
    Object.assign(this, { page, data });
    this.times = page.frames;
    this.tracks = data.tracks.map((track, i) => ({ name: track.name, values: dequantise(track), index: i, shown: true }));
    this.height = 330;
    this.build();
  }

  build() {
    const { title, unit, axes } = this.data;
    this.canvas = element('canvas', { role: 'img', 'aria-label': `${title}: ${axes.join(' and ')} in ${unit}` });
    this.canvas.style.height = `${this.height}px`;
    this.legend = element('div', { class: 'legend' }, ...this.tracks.map(track => this.key(track)));
    this.root = element('figure', { class: 'plot plane' }, element('figcaption', {}, element('span', { class: 'plot-title' }, title), element('span', { class: 'unit' }, unit)), this.legend, element('div', { class: 'canvas-box' }, this.canvas));
    this.axes = new Axes(this.canvas, this.page.theme);
    const scrub = event => { const t = this.nearest(event.offsetX, event.offsetY); if (t !== null) this.page.clock.jump(t); };
    this.canvas.addEventListener('pointerdown', scrub);
    this.canvas.addEventListener('pointermove', event => { if (event.buttons) scrub(event); });
  }

  key(track) {
    track.swatch = element('span', { class: 'swatch' });
    track.readout = element('span', { class: 'value' });
    track.button = element('button', { type: 'button', class: 'key', 'aria-pressed': true, onclick: () => this.toggle(track) }, track.swatch, element('span', { class: 'name' }, track.name), track.readout);
    return track.button;
  }

  toggle(track) {
    track.shown = !track.shown;
    track.button.setAttribute('aria-pressed', track.shown);
    this.draw();
  }

  colour(track) { return this.page.trackColour(track.name) || lineColour(this.page.theme, track.index); }

  // Equal scales: one metre is as long across as up.
  ranges() {
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    const count = (v, k) => { if (v < low[k]) low[k] = v; if (v > high[k]) high[k] = v; };
    for (const region of this.data.regions) for (const p of region.corners) { count(p[0], 0); count(p[1], 1); }
    for (const corners of this.data.outlines) for (const p of corners) { count(p[0], 0); count(p[1], 1); }
    for (const track of this.tracks) if (track.shown) track.values.forEach((v, i) => count(v, i % 2));
    const x = padded(low[0], high[0]), y = padded(low[1], high[1]);
    const width = this.axes.width - 70, height = this.height - 40;
    const scale = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height);
    const grow = (range, pixels) => { const middle = (range[0] + range[1]) / 2, half = 0.5 * scale * pixels; return [middle - half, middle + half]; };
    return [grow(x, width), grow(y, height)];
  }

  draw() {
    if (!this.axes.fit(this.height)) return;
    const axes = this.axes, c = axes.context;
    axes.range(...this.ranges(), { top: 10, right: 14, bottom: 26 });
    const slack = (axes.width - 70) - (axes.box.right - axes.box.left);
    const unit = (axes.x[1] - axes.x[0]) / (axes.width - 70);
    axes.x = [axes.x[0] + 0.5 * slack * unit, axes.x[1] - 0.5 * slack * unit];
    axes.grid(`${this.data.axes[0]} [${this.data.unit}]`);
    c.textAlign = 'left';
    c.fillText(`${this.data.axes[1]} [${this.data.unit}]`, axes.box.left + 6, axes.box.top + 2);
    for (const track of this.tracks) track.swatch.style.background = this.colour(track);
    c.save();
    axes.clip();
    for (const region of this.data.regions) this.area(region.corners, this.page.theme.value('--region-edge'), null, 0.35);
    c.setLineDash([4, 3]);
    for (const corners of this.data.outlines) this.area(corners, LAYER_COLOURS.outlines, null, 0.7);
    c.setLineDash([]);
    for (const track of this.tracks) if (track.shown) this.path(track);
    c.restore();
    this.picture = document.createElement('canvas');
    this.picture.width = this.canvas.width;
    this.picture.height = this.canvas.height;
    this.picture.getContext('2d').drawImage(this.canvas, 0, 0);
    this.drawCursor();
  }

  area(corners, edge, fill, alpha = 1) {
    const c = this.axes.context;
    c.beginPath();
    corners.forEach((p, i) => (i ? c.lineTo(this.axes.px(p[0]), this.axes.py(p[1])) : c.moveTo(this.axes.px(p[0]), this.axes.py(p[1]))));
    c.closePath();
    if (fill) { c.fillStyle = fill; c.fill(); }
    c.globalAlpha = alpha;
    c.strokeStyle = edge;
    c.lineWidth = 1.2;
    c.stroke();
    c.globalAlpha = 1;
  }

  path(track) {
    const c = this.axes.context;
    c.strokeStyle = this.colour(track);
    c.lineWidth = 1.4;
    c.globalAlpha = 0.75;
    c.beginPath();
    let pen = false;
    for (let i = 0; i < track.values.length; i += 2) {
      const x = this.axes.px(track.values[i]), y = this.axes.py(track.values[i + 1]);
      if (Number.isNaN(x)) { pen = false; continue; }
      if (pen) c.lineTo(x, y); else c.moveTo(x, y);
      pen = true;
    }
    c.stroke();
    c.globalAlpha = 1;
  }

  drawCursor() {
    if (!this.picture) return;
    const c = this.axes.context, t = this.page.clock.time, place = placeAt(this.times, t);
    c.save();
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.drawImage(this.picture, 0, 0);
    c.restore();
    c.save();
    this.axes.clip();
    const now = this.data.regions.find(r => t >= r.start - 1e-9 && t <= r.end + 1e-9);
    if (now) this.area(now.corners, this.page.theme.value('--region-edge'), this.page.theme.value('--region'));
    for (const track of this.tracks) {
      const x = mixed(track.values, place, 0, 2), y = mixed(track.values, place, 1, 2);
      track.readout.textContent = Number.isNaN(x) ? '\u2013' : `${minus(x.toFixed(3))}, ${minus(y.toFixed(3))}`;
      if (!track.shown || Number.isNaN(x)) continue;
      c.fillStyle = this.colour(track);
      c.strokeStyle = this.page.theme.value('--surface');
      c.lineWidth = 2;
      c.beginPath(); c.arc(this.axes.px(x), this.axes.py(y), 5.5, 0, 7); c.fill(); c.stroke();
    }
    c.restore();
  }

  // The time of the point of a track that is nearest to a click.
  nearest(px, py) {
    let best = null, least = 28 * 28;
    for (const track of this.tracks) {
      if (!track.shown) continue;
      for (let i = 0; i < track.values.length / 2; i++) {
        const dx = this.axes.px(track.values[2 * i]) - px, dy = this.axes.py(track.values[2 * i + 1]) - py;
        const d = dx * dx + dy * dy;
        if (d < least) { least = d; best = this.times[i]; }
      }
    }
    return best;
  }
}
