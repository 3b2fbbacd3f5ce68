// Play, pause, scrub, speed, camera, layers; by mouse, finger and keyboard.

class Transport {
  constructor(page) {
    this.page = page;
    const { clock } = page, find = id => document.getElementById(id);
    this.playButton = find('play');
    this.seek = find('seek');
    this.readout = find('clock');
    this.playButton.addEventListener('click', () => clock.toggle());
    find('to-start').addEventListener('click', () => clock.jump(clock.start));
    find('to-end').addEventListener('click', () => clock.jump(clock.end));
    this.seek.min = clock.start;
    this.seek.max = clock.end;
    this.seek.addEventListener('input', () => clock.jump(Number(this.seek.value)));
    this.speed = find('speed');
    this.speed.addEventListener('change', () => { clock.speed = Number(this.speed.value); });
    document.addEventListener('keydown', event => this.key(event));
    this.total = `${(clock.end - clock.start).toFixed(2)} s`;
    clock.listen(() => this.tick());
    this.tick();
  }

  tick() {
    const { clock } = this.page;
    this.seek.value = clock.time;
    this.seek.style.setProperty('--done', `${100 * (clock.time - clock.start) / (clock.end - clock.start)}%`);
    this.seek.setAttribute('aria-valuetext', `${clock.time.toFixed(2)} seconds`);
    this.readout.textContent = `${clock.time.toFixed(2)} s`;
    this.readout.title = `of ${this.total}`;
    if (this.wasPlaying === clock.playing) return;
    this.wasPlaying = clock.playing;
    this.playButton.dataset.state = clock.playing ? 'playing' : 'paused';
    this.playButton.setAttribute('aria-label', clock.playing ? 'pause' : 'play');
  }

  faster(by) {
    const options = Array.from(this.speed.options, option => Number(option.value)).sort((a, b) => a - b);
    const at = options.indexOf(this.page.clock.speed);
    this.page.clock.speed = options[Math.min(options.length - 1, Math.max(0, at + by))];
    this.speed.value = String(this.page.clock.speed);
  }

  key(event) {
    const typing = /^(SELECT|TEXTAREA)$/.test(event.target.tagName) || (event.target.tagName === 'INPUT' && event.target.type !== 'range');
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const onButton = event.target.closest && event.target.closest('button, summary, a');
    const { clock } = this.page, large = event.shiftKey ? 10 : 1, step = Math.max(0.02, (clock.end - clock.start) / 250);
    const actions = {
      ' ': () => clock.toggle(),
      ArrowLeft: () => clock.step(-step * large),
      ArrowRight: () => clock.step(step * large),
      Home: () => clock.jump(clock.start),
      End: () => clock.jump(clock.end),
      '+': () => this.faster(1),
      '=': () => this.faster(1),
      '-': () => this.faster(-1),
      f: () => this.page.setFollow(!this.page.follow),
      r: () => this.page.resetView(),
    };
    if (event.key === ' ' && onButton) return;
    if (event.target.getAttribute && event.target.getAttribute('role') === 'tab' && event.key.startsWith('Arrow')) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

// Tabs of the panel: arrows go from one to the next.
function makeTabs(bar, opened) {
  const tabs = Array.from(bar.querySelectorAll('[role=tab]'));
  const open = tab => {
    for (const item of tabs) {
      const on = item === tab;
      item.setAttribute('aria-selected', on);
      item.tabIndex = on ? 0 : -1;
      document.getElementById(item.getAttribute('aria-controls')).hidden = !on;
    }
    opened(tab.id);
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => open(tab));
    tab.addEventListener('keydown', event => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const next = tabs[(i + by + tabs.length) % tabs.length];
      next.focus();
      open(next);
    });
  });
  return id => open(tabs.find(tab => tab.id === id) || tabs[0]);
}
