// Light and dark: the system's choice until the reader chooses.

class Theme {
  constructor(button) {
    this.button = button;
    this.listeners = [];
    const system = matchMedia('(prefers-color-scheme: dark)');
    this.dark = system.matches;
    system.addEventListener('change', event => this.set(event.matches));
    button.addEventListener('click', () => this.set(!this.dark));
    this.set(this.dark);
  }

  listen(listener) { this.listeners.push(listener); }

  set(dark) {
    this.dark = dark;
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    this.button.setAttribute('aria-label', dark ? 'use the light theme' : 'use the dark theme');
    this.button.title = this.button.getAttribute('aria-label');
    const style = getComputedStyle(document.documentElement);
    this.value = name => style.getPropertyValue(name).trim();
    for (const listener of this.listeners) listener(this);
  }
}

const LINE_COLOURS = {
  light: ['#1f6fd6', '#dd6b20', '#12957c', '#8e4ec6', '#d23f63', '#7a8a12', '#2a9fc9', '#8a6a52'],
  dark: ['#5aa5ff', '#ff9a4d', '#3ecfae', '#bd8af0', '#ff7a98', '#b9c94a', '#63cbee', '#c7a58c'],
};

function lineColour(theme, i) {
  const colours = LINE_COLOURS[theme.dark ? 'dark' : 'light'];
  return colours[i % colours.length];
}
