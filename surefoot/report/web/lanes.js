// The strip below the replay: when each contact carries, what happened, where findings are, and the cursor.

const INSET = 8;  // half of the thumb of the slider above

class Lanes {
  constructor(page, canvas) {
    Object.assign(this, { page, canvas });
    const told = page.data.scene.contacts.filter(contact => contact.spans);
    this.rows = told.some(contact => contact.spans.length) ? told : [];
    this.findings = page.findings;
    this.events = page.data.scene.events;
    const count = this.rows.length + (this.events.length ? 1 : 0) + (this.findings.length ? 1 : 0);
    this.step = count > 6 ? 8 : 14;
    this.height = count ? count * this.step + 4 : 0;
    canvas.style.height = `${this.height}px`;
    canvas.hidden = !this.height;
    this.axes = new Axes(canvas, page.theme);
    this.cursor = element('div', { class: 'cursor' });
    canvas.after(this.cursor);
    const scrub = event => page.clock.jump(this.timeAt(event.offsetX));
    canvas.addEventListener('pointerdown', event => { if (event.pointerType === 'mouse') canvas.setPointerCapture(event.pointerId); scrub(event); });
    canvas.addEventListener('pointermove', event => { if (event.buttons) scrub(event); });
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
  }

  timeAt(pixel) {
    const { start, end } = this.page.clock;
    return start + Math.min(1, Math.max(0, (pixel - INSET) / (this.axes.width - 2 * INSET))) * (end - start);
  }

  px(t) {
    const { start, end } = this.page.clock;
    return INSET + (t - start) / (end - start) * (this.axes.width - 2 * INSET);
  }

  draw() {
    if (!this.height || !this.axes.fit(this.height)) return;
    const c = this.axes.context, theme = this.page.theme;
    this.rows.forEach((row, i) => {
      const y = 2 + i * this.step, thick = this.step - 3;
      c.fillStyle = theme.value('--lane');
      this.bar(INSET, this.axes.width - INSET, y, thick);
      c.fillStyle = theme.value('--lane-on');
      for (const [start, end] of row.spans) this.bar(this.px(start), Math.max(this.px(end), this.px(start) + 2), y, thick);
      if (thick < 10) return;
      c.font = '10px system-ui, sans-serif';
      c.textBaseline = 'middle';
      c.fillStyle = theme.value('--lane-text');
      c.fillText(row.name, INSET + 6, y + thick / 2 + 0.5);
    });
    this.drawEvents();
    this.drawFindings();
    this.tick();
  }

  // A band for as long as an event lasts, at least four pixels, with its name beside it.
  drawEvents() {
    const c = this.axes.context, y = 2 + this.rows.length * this.step, thick = this.step - 3;
    for (const event of this.events) {
      const left = this.px(event.start), right = Math.max(this.px(event.end), left + 4);
      c.fillStyle = LAYER_COLOURS.pushes;
      this.bar(left, right, y, thick);
      if (thick < 10) continue;
      c.font = '10px system-ui, sans-serif';
      c.textBaseline = 'middle';
      c.fillStyle = this.page.theme.value('--lane-text');
      const fits = right + 4 + c.measureText(event.name).width < this.axes.width - INSET;
      c.textAlign = fits ? 'left' : 'right';
      c.fillText(event.name, fits ? right + 4 : left - 4, y + thick / 2 + 0.5);
      c.textAlign = 'left';
    }
  }

  tick() {
    if (this.axes.width) this.cursor.style.cssText = `transform:translateX(${this.px(this.page.clock.time).toFixed(1)}px);height:${this.height}px`;
  }

  drawFindings() {
    const c = this.axes.context, y = 2 + (this.rows.length + (this.events.length ? 1 : 0)) * this.step;
    for (const finding of this.findings) {
      c.fillStyle = this.page.theme.value(finding.severity === 'defect' ? '--fail' : '--warn');
      this.bar(this.px(finding.start), Math.max(this.px(finding.end), this.px(finding.start) + 4), y, this.step - 3);
    }
  }

  bar(left, right, y, thick) {
    this.axes.context.beginPath();
    this.axes.context.roundRect(left, y, right - left, thick, 3);
    this.axes.context.fill();
  }
}
