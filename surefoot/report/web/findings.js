// What the audit found: findings worst first, and every item with its margin over time.

const STATUS = { passed: ['\u2713', 'passed'], failed: ['\u2715', 'failed'], remark: ['!', 'remark'], skipped: ['\u2013', 'not checked'] };

class AuditPanel {
  constructor(page, root, audit) {
    Object.assign(this, { page, root, audit });
    const defects = audit.findings.filter(f => f.severity === 'defect').length;
    const causes = audit.groups.filter(group => group.severity === 'defect').length;
    const failed = audit.items.filter(item => item.status === 'failed').length;
    const judged = audit.items.filter(item => item.status !== 'skipped').length;
    const text = audit.passed ? `no defects in ${judged} items` : `${defects} ${defects === 1 ? 'defect' : 'defects'}${defects > causes ? ` of ${causes} ${causes === 1 ? 'cause' : 'causes'}` : ''} in ${failed} of ${judged} items`;
    root.append(element('div', { class: `banner ${audit.passed ? 'pass' : 'fail'}` }, element('strong', {}, audit.passed ? 'Audit passed' : 'Audit failed'), element('span', {}, text)));
    root.append(element('h2', {}, 'Margins'), this.table());
    if (audit.findings.length) root.append(element('h2', {}, 'Findings by cause'), element('ol', { class: 'findings' }, ...audit.groups.map(group => this.group(group))));
    if (audit.replay) root.append(this.replay(audit.replay));
    for (const remark of [audit.contacts ? `Contacts: ${audit.contacts}` : '', ...audit.remarks]) if (remark) root.append(element('p', { class: 'remark' }, remark));
  }

  // One cause: its worst finding; the others, and what follows, folded in and counted.
  group(group) {
    const findings = group.findings.map(index => this.audit.findings[index]);
    const card = this.card(findings[0], group.message);
    if (findings.length > 1) card.append(element('details', {}, element('summary', {}, `${findings.length - 1} more like this`), this.list(findings.slice(1))));
    const follows = Object.entries(group.consequences).map(([item, count]) => `${item.replaceAll('_', ' ')} \u00d7 ${count}`);
    if (follows.length) card.append(element('p', { class: 'next' }, `follows: ${follows.join(', ')}`));
    return card;
  }

  list(findings) { return element('ol', { class: 'findings' }, ...findings.map(finding => this.card(finding))); }

  card(finding, message = finding.message) {
    const when = finding.start === finding.end ? `${finding.time.toFixed(3)} s` : `${finding.start.toFixed(3)} \u2013 ${finding.end.toFixed(3)} s`;
    const facts = [finding.where, when, `${short(finding.value)} of ${short(finding.limit)} ${finding.unit === '1' ? '' : finding.unit}`].filter(Boolean);
    const button = element('button', { type: 'button', class: 'finding', onclick: () => this.page.select(finding, card) },
      element('span', { class: 'finding-text' }, message.replaceAll('`', '')), element('span', { class: 'finding-facts' }, ...facts.map(text => element('span', {}, text))));
    const card = element('li', { class: `card ${finding.severity}` }, button);
    for (const text of [finding.why, finding.next_step]) if (text) card.append(element('p', { class: 'next' }, text));
    if (finding.covers.length) {
      const count = finding.covers.length;
      card.append(element('details', {}, element('summary', {}, `${count} ${count === 1 ? 'finding' : 'findings'} explained by this one`), this.list(finding.covers)));
    }
    return card;
  }

  replay(replay) {
    const how = replay.survived ? 'completed' : `lasted until ${short(replay.until_s)} s`;
    const errors = [replay.base_error_m === null ? '' : `base error ${short(replay.base_error_m)} m`, `joint error ${short(replay.joint_error)} rad or m`].filter(Boolean);
    return element('div', { class: `banner ${replay.survived ? 'pass' : 'fail'}` }, element('strong', {}, `Replay in ${replay.engine}: ${how}`), element('span', {}, [...errors, replay.note].filter(Boolean).join(' \u00b7 ')));
  }

  table() {
    const head = element('tr', {}, ...['', 'item', 'smallest margin', 'where and when', 'margin over time'].map(text => element('th', { scope: 'col' }, text)));
    const body = element('tbody');
    let stage = '';
    const judged = this.audit.items.filter(item => item.status !== 'skipped'), skipped = this.audit.items.filter(item => item.status === 'skipped');
    for (const item of judged) {
      if (item.stage !== stage) { stage = item.stage; body.append(element('tr', { class: 'stage-row' }, element('th', { colspan: 5, scope: 'colgroup' }, stage))); }
      body.append(this.row(item));
    }
    const table = element('div', { class: 'scroll' }, element('table', { class: 'items' }, element('thead', {}, head), body));
    if (!skipped.length) return table;
    const rest = element('ul', { class: 'quiet' }, ...skipped.map(item => element('li', {}, `${item.title}: ${item.note}`)));
    return element('div', {}, table, element('details', {}, element('summary', {}, `${skipped.length} ${skipped.length === 1 ? 'item' : 'items'} not checked`), rest));
  }

  row(item) {
    const [sign, meaning] = STATUS[item.status];
    const jump = item.worst_time === null || item.status === 'skipped' ? null : element('button', { type: 'button', class: 'link', onclick: () => this.page.clock.jump(item.worst_time) }, `${item.worst_part ? item.worst_part + ' ' : ''}at ${short(item.worst_time)} s`);
    const margin = item.margin_text;
    const where = element('td', {}, jump || element('span', { class: 'quiet' }, item.note));
    return element('tr', { class: `item ${item.status}` }, element('td', { class: 'sign', 'aria-label': meaning, title: meaning }, sign), element('td', {}, item.title), element('td', { class: 'number' }, margin), where, element('td', { class: 'spark' }, item.series ? sparkline(item, this.page) : null));
  }
}

// A small picture of a margin: the zero line, red where the limit is broken; a click jumps there.
function sparkline(item, page) {
  const values = dequantise(item.series), width = 150, height = 30;
  const known = Array.from(values).filter(v => !Number.isNaN(v));
  const low = Math.min(0, ...known), high = Math.max(0, ...known), span = Math.max(high - low, 1e-9);
  const y = v => 2 + (high - v) / span * (height - 4), x = i => i / Math.max(1, values.length - 1) * width;
  let line = '', broken = '', pen = false;
  values.forEach((v, i) => {
    if (Number.isNaN(v)) { pen = false; return; }
    line += `${pen ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
    if (v < 0 && item.status !== 'passed') broken += `M${x(i).toFixed(1)} ${y(0).toFixed(1)}V${Math.max(y(v), y(0) + 1.5).toFixed(1)}`;
    pen = true;
  });
  const box = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = (d, kind) => { const made = document.createElementNS(box.namespaceURI, 'path'); made.setAttribute('d', d || 'M0 0'); made.setAttribute('class', kind); box.append(made); };
  box.setAttribute('viewBox', `0 0 ${width} ${height}`);
  box.setAttribute('preserveAspectRatio', 'none');
  box.setAttribute('aria-hidden', 'true');
  path(`M0 ${y(0)}H${width}`, 'zero');
  path(broken, 'broken');
  path(line, 'margin');
  box.addEventListener('click', event => {
    const share = event.offsetX / box.getBoundingClientRect().width;
    page.clock.jump(item.start + share * (item.end - item.start));
  });
  return box;
}
