const side = document.getElementById('side'), front = document.getElementById('front');
const seek = document.getElementById('seek'), clock = document.getElementById('clock'), play = document.getElementById('play');
seek.max = MOTION.t.length - 1;
let low = [1e9, 1e9, 1e9], high = [-1e9, -1e9, -1e9];
for (const frame of MOTION.bones) for (let i = 0; i < frame.length; i++) {
  low[i % 3] = Math.min(low[i % 3], frame[i]); high[i % 3] = Math.max(high[i % 3], frame[i]);
}
low[2] = Math.min(low[2], 0);
for (const [view, axis] of [['side', 0], ['front', 1]]) for (const shape of MOTION.outlines[view])
  for (let i = 0; i < shape.length; i += 2) {
    low[axis] = Math.min(low[axis], Math.max(shape[i], low[axis] - 0.3)); high[axis] = Math.max(high[axis], Math.min(shape[i], high[axis] + 0.3));
  }
const span = Math.max(high[0] - low[0], high[1] - low[1], high[2] - low[2], 0.1);
function draw(canvas, view, axis, sign, k) {
  const c = canvas.getContext('2d'), w = canvas.width, scale = 0.85 * w / span;
  const mid = (low[axis] + high[axis]) / 2, midZ = (low[2] + high[2]) / 2;
  const x = p => w / 2 + sign * (p - mid) * scale, y = p => w / 2 - (p - midZ) * scale;
  c.clearRect(0, 0, w, w); c.lineCap = 'round';
  c.strokeStyle = '#888'; c.lineWidth = 1; c.beginPath(); c.moveTo(0, y(0)); c.lineTo(w, y(0)); c.stroke();
  c.fillStyle = '#8885'; c.strokeStyle = '#888';
  for (const shape of MOTION.outlines[view]) {
    c.beginPath();
    for (let i = 0; i < shape.length; i += 2) c[i ? 'lineTo' : 'moveTo'](x(shape[i]), y(shape[i + 1]));
    c.closePath(); c.fill(); c.stroke();
  }
  for (const [set, colour, width] of [[MOTION.bones[k], '#1f77b4', 4], [MOTION.soles[k], '#d35400', 5]]) {
    c.strokeStyle = colour; c.lineWidth = width; c.beginPath();
    for (let i = 0; i < set.length; i += 6) { c.moveTo(x(set[i + axis]), y(set[i + 2])); c.lineTo(x(set[i + 3 + axis]), y(set[i + 5])); }
    c.stroke();
  }
}
function show(k) { draw(side, 'side', 0, 1, k); draw(front, 'front', 1, -1, k); clock.value = MOTION.t[k].toFixed(2) + ' s'; seek.value = k; }
let running = true, start = performance.now();
const length = MOTION.t[MOTION.t.length - 1] - MOTION.t[0];
play.onclick = () => { running = !running; play.textContent = running ? 'pause' : 'play'; start = performance.now() - 1000 * (MOTION.t[seek.value] - MOTION.t[0]); };
seek.oninput = () => { running = false; play.textContent = 'play'; show(+seek.value); };
function tick(now) {
  if (running) {
    const t = MOTION.t[0] + ((now - start) / 1000) % (length + 0.5);
    let k = MOTION.t.findIndex(s => s > t); show(k < 0 ? MOTION.t.length - 1 : Math.max(0, k - 1));
  }
  requestAnimationFrame(tick);
}
show(0); requestAnimationFrame(tick);
