// The plots under their headings: an overview, then one group at a time; of many small plots the first six.

const FIRST_SMALL = 6;

class PlotPanel {
  constructor(page, root) {
    Object.assign(this, { page, root });
    this.views = [];
    this.bar = element('div', { class: 'pills', role: 'group', 'aria-label': 'groups of plots' });
    this.body = element('div', { class: 'plots' });
    root.append(this.bar, this.body);
    this.groups = this.collect();
    for (const name of Object.keys(this.groups)) {
      this.bar.append(element('button', { type: 'button', class: 'pill', 'data-group': name, onclick: () => this.open(name) }, name));
    }
    this.limitsButton = element('button', { type: 'button', class: 'ghost', 'aria-pressed': page.fitLimits, title: 'include the limits in the vertical scale', onclick: () => this.toggleLimits() }, 'Show limits');
    this.watch = new IntersectionObserver(entries => entries.forEach(entry => this.seen(entry)), { rootMargin: '120px' });
    const first = Object.keys(this.groups)[0];
    if (first) this.open(first);
    else this.body.append(element('p', { class: 'empty' }, 'Nothing to plot.'));
  }

  collect() {
    const groups = {}, { plots, planes } = this.page.data.plots;
    const key = plots.filter(plot => plot.key);
    if (key.length) groups.Overview = [...planes.slice(0, 1).map(data => ({ plane: data })), ...key.map(data => ({ data }))];
    for (const plane of planes) (groups[plane.group] = groups[plane.group] || []).push({ plane });
    for (const data of plots) (groups[data.group] = groups[data.group] || []).push({ data });
    return groups;
  }

  open(name) {
    this.current = name;
    for (const pill of this.bar.children) pill.setAttribute('aria-pressed', pill.dataset.group === name);
    this.watch.disconnect();
    this.views = [];
    const items = this.groups[name], small = items.filter(item => item.data && item.data.small);
    const large = items.filter(item => !small.includes(item));
    const limited = items.some(item => item.data && (Object.keys(item.data.lower).length || Object.keys(item.data.upper).length));
    this.body.replaceChildren(...(limited ? [element('div', { class: 'plot-tools' }, this.limitsButton)] : []));
    this.body.append(element('div', { class: 'wide' }, ...large.map(item => this.view(item))));
    if (small.length) this.addSmall(small);
    for (const view of this.views.slice(0, 8)) { view.visible = true; view.draw(); }
  }

  addSmall(small) {
    const grid = element('div', { class: 'multiples' }, ...small.slice(0, FIRST_SMALL).map(item => this.view(item)));
    this.body.append(grid);
    const rest = small.slice(FIRST_SMALL);
    if (!rest.length) return;
    const more = element('button', { type: 'button', class: 'more', onclick: () => { more.remove(); grid.append(...rest.map(item => this.view(item))); } }, `Show ${rest.length} more`);
    this.body.append(more);
  }

  view(item) {
    const made = item.plane ? new PlaneView(this.page, item.plane) : new TimePlot(this.page, item.data);
    made.root.view = made;
    this.views.push(made);
    this.watch.observe(made.root);
    return made.root;
  }

  seen(entry) {
    const view = entry.target.view;
    view.visible = entry.isIntersecting;
    if (view.visible) view.draw();
  }

  toggleLimits() {
    this.page.fitLimits = !this.page.fitLimits;
    this.limitsButton.setAttribute('aria-pressed', this.page.fitLimits);
    this.redraw();
  }

  redraw() { for (const view of this.views) if (view.visible) view.draw(); }

  tick() { for (const view of this.views) if (view.visible) view.drawCursor(); }
}
