// The one clock of the page: replay, plots and findings listen to it.

class Clock {
  constructor(start, end) {
    this.start = start;
    this.end = Math.max(end, start + 1e-9);
    this.time = start;
    this.speed = 1;
    this.playing = false;
    this.listeners = [];
  }

  listen(listener) { this.listeners.push(listener); }

  tell() { for (const listener of this.listeners) listener(this); }

  set(time) {
    this.time = Math.min(this.end, Math.max(this.start, time));
    this.tell();
  }

  jump(time) {
    this.playing = false;
    this.set(time);
  }

  step(seconds) { this.jump(this.time + seconds); }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  pause() { this.playing = false; this.tell(); }

  play() {
    if (this.time >= this.end - 1e-9) this.time = this.start;
    this.playing = true;
    this.last = null;
    this.tell();
    requestAnimationFrame(now => this.tick(now));
  }

  tick(now) {
    if (!this.playing) return;
    const passed = this.last === null ? 0 : Math.min(1, (now - this.last) / 1000);
    this.last = now;
    this.passed = passed;
    this.time = Math.min(this.end, this.time + passed * this.speed);
    if (this.time >= this.end) this.playing = false;
    this.tell();
    if (this.playing) requestAnimationFrame(next => this.tick(next));
  }
}
