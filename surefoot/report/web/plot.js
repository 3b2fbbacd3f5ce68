// A plot over time: lines, limits, phases, findings, and the cursor of the one clock.

class TimePlot {
  constructor(page, data) {
    Object.assign(this, { page, data });
    this.times = page.times[data.grid];
    this.lines = data.lines.map((line, i) => ({ name: line.name, values: dequantise(line), index: i, shown: i < 8 }));
    this.limits = { lower: this.bounds(data.lower), upper: this.bounds(data.upper) };
    this.height = data.small ? 138 : 190;
    this.build();
  }

  bounds(found) {
    return Object.entries(found).map(([name, value]) => ({ name, value, values: typeof value === 'number' ? null : dequantise(value) }));
  }

  build() {
    const { title, unit } = this.data;
    this.canvas = element('canvas', { role: 'img', 'aria-label': `${title} in ${unit}, over time` });
    this.canvas.style.height = `${this.height}px`;
    this.tip = element('div', { class: 'tip', hidden: true });
    this.cursor = element('div', { class: 'cursor' });
    for (const line of this.lines) line.dot = element('div', { class: 'dot' });
    this.legend = element('div', { class: 'legend' });
    const heading = element('figcaption', {}, element('span', { class: 'plot-title' }, title), element('span', { class: 'unit' }, unit === '1' ? '' : unit));
    this.root = element('figure', { class: this.data.small ? 'plot small' : 'plot' }, heading, this.legend, element('div', { class: 'canvas-box' }, this.canvas, this.cursor, ...this.lines.map(line => line.dot), this.tip));
    this.axes = new Axes(this.canvas, this.page.theme);
    this.single = this.lines.length === 1;
    this.lines.forEach(line => this.legend.append(this.key(line)));
    if (this.single) heading.append(this.legend);
    const scrub = event => this.page.clock.jump(this.axes.timeAt(event.offsetX));
    this.canvas.addEventListener('pointerdown', event => { if (event.pointerType === 'mouse') this.canvas.setPointerCapture(event.pointerId); scrub(event); });
    this.canvas.addEventListener('pointermove', event => { if (event.buttons) scrub(event); this.hover(event); });
    this.canvas.addEventListener('pointerleave', () => { this.tip.hidden = true; });
  }

  key(line) {
    line.swatch = element('span', { class: 'swatch' });
    line.readout = element('span', { class: 'value' });
    if (this.single) return element('span', { class: 'key' }, line.readout);
    line.button = element('button', { type: 'button', class: 'key', 'aria-pressed': line.shown, onclick: () => this.toggle(line) }, line.swatch, element('span', { class: 'name' }, line.name), line.readout);
    return line.button;
  }

  toggle(line) {
    line.shown = !line.shown;
    line.button.setAttribute('aria-pressed', line.shown);
    this.draw();
  }

  colour(line) { return this.page.trackColour(line.name) || lineColour(this.page.theme, line.index); }

  // Draws everything but the cursor.
  draw() {
    if (!this.axes.fit(this.height)) return;
    const axes = this.axes, c = axes.context;
    axes.range([this.page.clock.start, this.page.clock.end], this.yRange(), { top: 8, right: 12, bottom: 24 });
    c.save();
    axes.clip();
    this.page.drawBands(axes, this.data);
    this.drawForbidden();
    c.restore();
    axes.grid('t [s]');
    c.save();
    axes.clip();
    this.drawLimits();
    for (const line of this.lines) if (line.shown) this.drawLine(line);
    c.restore();
    for (const line of this.lines) line.swatch.style.background = this.colour(line);
    this.drawCursor();
  }

  yRange() {
    let low = Infinity, high = -Infinity;
    const count = (value) => { if (value < low) low = value; if (value > high) high = value; };
    for (const line of this.lines) if (line.shown) line.values.forEach(count);
    const [bottom, top] = [low, high];
    for (const [side, limits] of Object.entries(this.limits)) {
      for (const limit of limits) if (this.page.fitLimits || this.isNear(limit, side, bottom, top)) (limit.values || [limit.value]).forEach(count);
    }
    return padded(low, high);
  }

  // Whether a limit is so near that a reader wants to see it.
  isNear(limit, side, low, high) {
    const value = limit.values ? limit.values[0] : limit.value, span = high - low || Math.abs(high) || 1;
    return side === 'upper' ? value < high + 0.6 * span : value > low - 0.6 * span;
  }

  limitPath(limit) {
    const { left, right } = this.axes.box;
    if (!limit.values) return [[left, this.axes.py(limit.value)], [right, this.axes.py(limit.value)]];
    return Array.from(limit.values, (v, i) => [this.axes.px(this.times[i]), this.axes.py(v)]).filter(p => !Number.isNaN(p[1]));
  }

  // The area beyond limits that hold for all lines, or for the only line.
  drawForbidden() {
    const c = this.axes.context, { left, right, top, bottom } = this.axes.box;
    c.fillStyle = this.page.theme.value('--forbidden');
    for (const [side, edge] of [['lower', bottom], ['upper', top]]) {
      for (const limit of this.limits[side]) {
        if (limit.name !== '' && !this.single) continue;
        c.beginPath();
        c.moveTo(left, edge);
        for (const [x, y] of this.limitPath(limit)) c.lineTo(x, side === 'lower' ? Math.min(y, bottom) : Math.max(y, top));
        c.lineTo(right, edge);
        c.fill();
      }
    }
  }

  drawLimits() {
    const c = this.axes.context;
    c.setLineDash([5, 4]);
    c.lineWidth = 1.2;
    for (const limit of [...this.limits.lower, ...this.limits.upper]) {
      const line = this.lines.find(item => item.name === limit.name);
      if (line && !line.shown) continue;
      c.strokeStyle = !line || this.single ? this.page.theme.value('--fail') : this.colour(line);
      c.beginPath();
      this.limitPath(limit).forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
      c.stroke();
    }
    c.setLineDash([]);
  }

  // One column of pixels holds many points: its least and largest value are drawn, so that spikes stay.
  drawLine(line) {
    const c = this.axes.context;
    c.strokeStyle = this.colour(line);
    c.lineWidth = 1.6;
    c.lineJoin = 'round';
    c.beginPath();
    let pen = false;
    for (let i = 0; i < line.values.length; i++) {
      const y = this.axes.py(line.values[i]);
      if (Number.isNaN(y)) { pen = false; continue; }
      const x = this.axes.px(this.times[i]);
      if (pen) c.lineTo(x, y); else c.moveTo(x, y);
      pen = true;
    }
    c.stroke();
  }

  valueAt(line, t) {
    const place = placeAt(this.times, t);
    return line.values[place.share < 0.5 ? place.k : place.next];
  }

  // The cursor and its dots are elements over the picture: nothing is drawn anew while the clock runs.
  drawCursor() {
    if (!this.axes.box) return;
    const axes = this.axes, t = this.page.clock.time, x = axes.px(t), { top, bottom } = axes.box;
    this.cursor.style.cssText = `transform:translateX(${x.toFixed(1)}px);top:${top}px;height:${bottom - top}px`;
    for (const line of this.lines) {
      const value = this.valueAt(line, t), y = axes.py(value);
      line.readout.textContent = line.shown ? short(value) : '';
      const inside = line.shown && y >= top - 1 && y <= bottom + 1;
      line.dot.style.cssText = inside ? `transform:translate(${x.toFixed(1)}px,${y.toFixed(1)}px);background:${this.colour(line)}` : 'display:none';
    }
  }

  hover(event) {
    if (event.pointerType !== 'mouse' || event.buttons || !this.axes.box) { this.tip.hidden = true; return; }
    const t = this.axes.timeAt(event.offsetX);
    const rows = this.lines.filter(line => line.shown).map(line => {
      const swatch = element('span', { class: 'swatch' });
      swatch.style.background = this.colour(line);
      return element('div', {}, swatch, `${this.single ? '' : line.name + ' '}${short(this.valueAt(line, t))}`);
    });
    this.tip.replaceChildren(element('b', {}, `${t.toFixed(3)} s`), ...rows);
    this.tip.hidden = false;
    const flip = event.offsetX > this.axes.width * 0.55;
    this.tip.style.left = flip ? '' : `${event.offsetX + 14}px`;
    this.tip.style.right = flip ? `${this.axes.width - event.offsetX + 14}px` : '';
    this.tip.style.top = '6px';
  }
}
