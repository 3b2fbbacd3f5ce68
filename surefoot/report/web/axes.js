// The frame of a plot on a canvas: sharp on every screen, with round ticks, phase bands and findings.

class Axes {
  constructor(canvas, theme) {
    this.canvas = canvas;
    this.theme = theme;
  }

  // Sizes the canvas to its box; returns false if it is not on the page.
  fit(height) {
    const width = this.canvas.clientWidth;
    if (!width) return false;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.context = this.canvas.getContext('2d');
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return true;
  }

  // Ranges of both axes; the left margin fits the widest label.
  range(x, y, box) {
    const c = this.context;
    c.font = FONT;
    this.x = x;
    this.y = y;
    this.yTicks = ticksBetween(y[0], y[1], Math.max(2, Math.round((this.height - box.top - box.bottom) / 34)));
    const labels = this.yTicks.ticks.map(v => tickText(v, this.yTicks.step));
    const widest = Math.max(20, ...labels.map(text => c.measureText(text).width));
    this.box = { left: Math.ceil(widest) + 10, right: this.width - box.right, top: box.top, bottom: this.height - box.bottom };
  }

  px(value) { return this.box.left + (value - this.x[0]) / (this.x[1] - this.x[0]) * (this.box.right - this.box.left); }

  py(value) { return this.box.bottom - (value - this.y[0]) / (this.y[1] - this.y[0]) * (this.box.bottom - this.box.top); }

  timeAt(pixel) {
    const share = (pixel - this.box.left) / (this.box.right - this.box.left);
    return this.x[0] + Math.min(1, Math.max(0, share)) * (this.x[1] - this.x[0]);
  }

  clip() {
    const { left, right, top, bottom } = this.box;
    this.context.beginPath();
    this.context.rect(left, top, right - left, bottom - top);
    this.context.clip();
  }

  band(start, end, colour) {
    const { left, right, top, bottom } = this.box;
    const a = Math.max(left, this.px(start)), b = Math.min(right, Math.max(this.px(end), this.px(start) + 2));
    if (b <= a) return;
    this.context.fillStyle = colour;
    this.context.fillRect(a, top, b - a, bottom - top);
  }

  grid(xLabel) {
    const c = this.context, { left, right, top, bottom } = this.box;
    c.font = FONT;
    c.lineWidth = 1;
    c.strokeStyle = this.theme.value('--grid');
    c.fillStyle = this.theme.value('--muted');
    c.textBaseline = 'middle';
    c.textAlign = 'right';
    for (const value of this.yTicks.ticks) {
      const y = Math.round(this.py(value)) + 0.5;
      c.beginPath(); c.moveTo(left, y); c.lineTo(right, y); c.stroke();
      c.fillText(tickText(value, this.yTicks.step), left - 6, y);
    }
    this.xAxis(xLabel);
  }

  xAxis(label) {
    const c = this.context, { left, right, top, bottom } = this.box;
    const { step, ticks } = ticksBetween(this.x[0], this.x[1], Math.max(2, Math.round((right - left) / 90)));
    const labelWidth = c.measureText(label).width;
    c.textBaseline = 'top';
    c.textAlign = 'center';
    for (const value of ticks) {
      const x = Math.round(this.px(value)) + 0.5, text = tickText(value, step);
      c.beginPath(); c.moveTo(x, top); c.lineTo(x, bottom + 4); c.stroke();
      if (x + c.measureText(text).width / 2 < right - labelWidth - 4) c.fillText(text, x, bottom + 7);
    }
    c.textAlign = 'right';
    c.fillText(label, right, bottom + 7);
    c.strokeStyle = this.theme.value('--axis');
    c.beginPath(); c.moveTo(left, bottom + 0.5); c.lineTo(right, bottom + 0.5); c.stroke();
  }
}

const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

// Bounds of values, a little wider, never empty.
function padded(low, high) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const pad = 0.07 * (high - low) || Math.max(1e-9, 0.1 * Math.abs(high)) || 1;
  return low === high && low === 0 ? [-1, 1] : [low - pad, high + pad];
}
