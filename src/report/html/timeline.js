// The timeline: rows of slices on a canvas. Only what a pixel can show is drawn: slices that fall on a drawn pixel are skipped, rows are
// searched for the first visible slice.
const PALETTE = ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#0072b2', '#999933'];
const OTHER = '#8a929c', DARK_GROUNDS = ['#0072b2', '#d55e00', '#009e73'];
const ROOF_CLASSES = ['below 10 % of the roof', '10 to 30 %', '30 to 60 %', 'over 60 %', 'not known'], ROOF_COLOURS = ['#d55e00', '#e69f00', '#56b4e9', '#0072b2', OTHER];

const COLOURINGS = {
  kind: (step) => (step.kind ? `${step.opcode}:${step.kind}` : step.opcode),
  class: (step) => step.class,
  phase: (step) => step.phase || '(not told)',
  operator: (step) => step.op_type || '(not told)',
  roof: (step) => ROOF_CLASSES[step.roof_percent === null ? 4 : step.roof_percent < 10 ? 0 : step.roof_percent < 30 ? 1 : step.roof_percent < 60 ? 2 : 3],
};
const colouring = {
  by: 'kind', colours: new Map(), shares: [], listeners: [],
  set(by, steps) {
    this.by = by;
    const total = new Map();
    for (const step of steps) total.set(COLOURINGS[by](step), (total.get(COLOURINGS[by](step)) || 0) + (step.pass_ns || 0));
    this.shares = [...total].sort((a, b) => b[1] - a[1]);
    this.colours = new Map(this.shares.map(([name], at) => [name, by === 'roof' ? ROOF_COLOURS[ROOF_CLASSES.indexOf(name)] : PALETTE[at] || OTHER]));
    for (const listener of this.listeners) listener();
  },
};
const colourOf = (step) => colouring.colours.get(COLOURINGS[colouring.by](step)) || OTHER;

/// A row: begins and lengths in ns, sorted and apart; `step` or `name` by slice; busy: height in percent.
const emptyRow = (label, height = 22) => ({ label, height, begin: [], length: [], step: [], name: [], busy: null });

/// Rows of scopes above steps that lie one behind the other: neighbours with the same scope are one slice.
const scopeRows = (row, stepByNumber, depth) => {
  const rows = [];
  for (let level = 0; level < depth; ++level) {
    const scopes = emptyRow(level === 0 ? 'scopes' : '', 18);
    let before = null;
    row.step.forEach((number, at) => {
      const step = stepByNumber.get(number), parts = step && step.scope ? step.scope.split('/') : [];
      const path = parts.length > level ? parts.slice(0, level + 1).join('/') : null;
      if (path !== null && path === before) {
        scopes.length[scopes.length.length - 1] = row.begin[at] + row.length[at] - scopes.begin.at(-1);
      } else if (path !== null) {
        scopes.begin.push(row.begin[at]); scopes.length.push(row.length[at]); scopes.step.push(null); scopes.name.push(parts[level]);
      }
      before = path;
    });
    if (scopes.begin.length > 0) rows.push(scopes);
  }
  return rows;
};

/// One pass as the medians tell it: every step as long as it takes in a pass, one behind the other.
const medianRows = (steps, stepByNumber) => {
  const row = emptyRow('steps', 34);
  let at = 0;
  for (const step of steps) {
    if (!(step.pass_ns > 0)) continue;
    row.begin.push(at); row.length.push(step.pass_ns); row.step.push(step.step); row.name.push(null);
    at += step.pass_ns;
  }
  return [...scopeRows(row, stepByNumber, 4), row];
};

/// The run as it happened: passes, and a row a lane.
const runRows = (data) => {
  const passes = emptyRow('passes', 18);
  for (const [pass, begin, end] of data.passes.rows) { passes.begin.push(begin); passes.length.push(Math.max(0, end - begin)); passes.step.push(null); passes.name.push(`pass ${pass}`); }
  const lanes = data.timeline.lanes.map((lane, number) => {
    const row = emptyRow(data.timeline.lanes.length > 1 ? `lane ${number}` : 'steps', 30);
    let at = 0;
    lane.begin.forEach((difference, index) => { at += difference; row.begin.push(at); row.length.push(lane.length[index]); });
    row.step = lane.step;
    row.busy = lane.busy.length ? lane.busy : null;
    return row;
  });
  return [passes, ...lanes];
};

const firstVisible = (row, from) => {
  let low = 0, high = row.begin.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.begin[middle] + row.length[middle] < from) low = middle + 1; else high = middle;
  }
  return low;
};

const niceTick = (span) => {
  const power = 10 ** Math.floor(Math.log10(span));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= span);
};

class Timeline {
  constructor(steps, stepByNumber, modes) {
    this.stepByNumber = stepByNumber; this.steps = steps; this.modes = modes; this.fits = null; this.hits = []; this.hover = null;
    this.canvas = element('canvas', { tabindex: '0', role: 'application', 'aria-label': 'timeline; W and S zoom, A and D move, F shows all, N and P go to hits, Enter selects' });
    this.card = element('div', { class: 'card', hidden: true });
    this.legend = element('div', { class: 'legend' });
    this.node = element('div', { class: 'timeline' }, this.canvas, this.card);
    this.listen();
    colouring.listeners.push(() => this.draw());
    selection.listeners.push(() => this.draw());
    this.setMode(Object.keys(modes)[0]);
  }
  setMode(name) {
    this.rows = this.modes[name]();
    this.end = Math.max(1, ...this.rows.map((row) => (row.begin.length ? row.begin.at(-1) + row.length.at(-1) : 0)));
    this.height = 26 + this.rows.reduce((sum, row) => sum + row.height + 3, 0) + 4;
    this.labels = this.rows.some((row) => row.label.startsWith('lane')) ? 62 : 54;
    this.show(0, this.end);
  }
  show(from, to) {
    const span = Math.max(1, Math.min(this.end, to - from));
    this.from = Math.max(0, Math.min(this.end - span, from)); this.to = this.from + span;
    this.draw();
  }
  zoom(factor, x) {
    const middle = x === undefined ? (this.from + this.to) / 2 : this.timeAt(x);
    this.show(middle - (middle - this.from) * factor, middle - (middle - this.from) * factor + (this.to - this.from) * factor);
  }
  timeAt(x) { return this.from + ((x - this.labels) / (this.canvas.clientWidth - this.labels)) * (this.to - this.from); }
  xOf(ns) { return this.labels + ((ns - this.from) / (this.to - this.from)) * (this.canvas.clientWidth - this.labels); }
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }
  paint() {
    const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, style = getComputedStyle(document.documentElement);
    if (width === 0) return;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.width = Math.round(width * ratio); this.canvas.height = Math.round(this.height * ratio);
    const pen = this.canvas.getContext('2d');
    pen.scale(ratio, ratio);
    this.look = { text: style.getPropertyValue('--text'), faint: style.getPropertyValue('--faint'), line: style.getPropertyValue('--line'), ground: style.getPropertyValue('--ground'), raised: style.getPropertyValue('--raised'), hit: style.getPropertyValue('--hit') };
    pen.fillStyle = this.look.ground; pen.fillRect(0, 0, width, this.height);
    pen.font = `12px ${style.getPropertyValue('--font')}`; pen.textBaseline = 'middle';
    this.letter = pen.measureText('abcdefghijklmnopqrstuvwxyz.0123456789').width / 37;
    this.paintRuler(pen, width);
    let top = 26;
    for (const row of this.rows) { this.paintRow(pen, row, top, width); top += row.height + 3; }
  }
  paintRuler(pen, width) {
    const tick = niceTick(((this.to - this.from) * 90) / Math.max(1, width - this.labels));
    for (let at = Math.ceil(this.from / tick) * tick; at <= this.to; at += tick) {
      const x = Math.round(this.xOf(at)) + 0.5;
      pen.strokeStyle = this.look.line; pen.beginPath(); pen.moveTo(x, 18); pen.lineTo(x, this.height); pen.stroke();
      pen.fillStyle = this.look.faint; pen.textAlign = at === 0 ? 'left' : 'center';
      const text = this.tickText(at, tick);
      if (x + pen.measureText(text).width / 2 < width) pen.fillText(text, at === 0 ? x - 4 : x, 10);
    }
    pen.textAlign = 'left';
  }
  /// As many digits as the distance of the ticks needs.
  tickText(at, tick) {
    if (at === 0) return '0';
    const [scale, unit] = at < 1e3 ? [1, 'ns'] : at < 1e6 ? [1e3, 'µs'] : at < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
    return `${(at / scale).toFixed(Math.max(0, Math.min(9, Math.ceil(Math.log10(scale / tick)))))} ${unit}`;
  }
  paintRow(pen, row, top, width) {
    pen.save();
    pen.beginPath(); pen.rect(this.labels, top, width - this.labels, row.height); pen.clip();
    let drawnTo = -1;
    for (let at = firstVisible(row, this.from); at < row.begin.length && row.begin[at] <= this.to; ++at) {
      const left = this.xOf(row.begin[at]), right = this.xOf(row.begin[at] + row.length[at]);
      if (right < drawnTo + 0.7) continue;
      this.paintSlice(pen, row, at, Math.max(left, drawnTo, this.labels - 1), Math.min(right, width + 1), top);
      drawnTo = Math.max(right, left + 0.7);
    }
    pen.restore();
    pen.fillStyle = this.look.faint; pen.fillText(row.label, 4, top + row.height / 2);
  }
  paintSlice(pen, row, at, left, right, top) {
    const step = row.step[at] === null || row.step[at] === undefined ? null : this.stepByNumber.get(row.step[at]);
    const wide = Math.max(0.7, right - left - (right - left > 3 ? 0.6 : 0)), height = row.busy ? Math.max(2, (row.height * row.busy[at]) / 100) : row.height;
    const colour = step ? colourOf(step) : row.name[at] ? this.look.raised : OTHER;
    const faded = this.fits && step && !this.fits(step);
    pen.globalAlpha = faded ? 0.16 : 1;
    pen.fillStyle = colour; pen.fillRect(left, top + row.height - height, wide, height);
    if (!step && row.name[at]) { pen.strokeStyle = this.look.line; pen.strokeRect(left + 0.5, top + 0.5, Math.max(0.5, wide - 1), row.height - 1); }
    if (step && step.step === selection.step) { pen.globalAlpha = 1; pen.strokeStyle = this.look.hit; pen.lineWidth = 2.5; pen.strokeRect(left + 1, top + 1, Math.max(1, wide - 2), row.height - 2); pen.lineWidth = 1; }
    const name = step ? step.name : row.name[at];
    const letters = Math.floor((wide - 8) / this.letter);
    if (name && letters >= 3) {
      pen.fillStyle = step ? (DARK_GROUNDS.includes(colour) ? '#ffffff' : '#101418') : this.look.text;
      pen.fillText(name.length <= letters ? name : `${name.slice(0, letters - 1)}…`, left + 4, top + row.height / 2 + 0.5);
    }
    pen.globalAlpha = 1;
  }
  hitAt(x, y) {
    let top = 26;
    for (const row of this.rows) {
      if (y >= top && y < top + row.height && x >= this.labels) {
        const slack = ((this.to - this.from) / Math.max(1, this.canvas.clientWidth)) * 2, at = firstVisible(row, this.timeAt(x) - slack);
        return at < row.begin.length && row.begin[at] <= this.timeAt(x) + slack ? { row, at } : null;
      }
      top += row.height + 3;
    }
    return null;
  }
  showCard(x, y) {
    const hit = this.hitAt(x, y);
    this.card.hidden = !hit;
    if (!hit) return;
    const { row, at } = hit, step = row.step[at] === null || row.step[at] === undefined ? null : this.stepByNumber.get(row.step[at]);
    const lines = [element('b', {}, step ? step.name : row.name[at] || 'one of the shorter steps')];
    if (step && step.op_name) lines.push(element('div', {}, step.op_name));
    lines.push(element('div', {}, row.busy ? `${time(row.length[at])}, ${row.busy[at]} % busy; the longest step in it` : `${time(row.length[at])} from ${time(row.begin[at])}`));
    if (step) lines.push(element('div', {}, `median ${human(step.median_ns, 'x_ns')}, ${human(step.pass_ns, 'x_ns')} a pass; ${COLOURINGS.kind(step)}, ${step.class}${step.roof_percent === null ? '' : `, ${human(step.roof_percent, 'x_percent')} of its roof`}`));
    if (step && step.flags) lines.push(element('div', {}, step.flags));
    this.card.replaceChildren(...lines);
    this.card.style.left = `${Math.max(0, Math.min(x + 14, this.canvas.clientWidth - this.card.offsetWidth - 4))}px`;
    this.card.style.top = `${y + 18}px`;
  }
  /// Slices of steps that fit, over all rows, by begin.
  search(text) {
    const find = text === '' ? null : finder(text);
    this.fits = find && ((step) => find(step.name) || find(step.op_name) || find(step.scope) || find(step.opcode) || find(step.op_type));
    this.hits = [];
    if (this.fits) {
      for (const row of this.rows) row.step.forEach((number, at) => {
        const step = number === null ? null : this.stepByNumber.get(number);
        if (step && this.fits(step)) this.hits.push({ row, at });
      });
      this.hits.sort((a, b) => a.row.begin[a.at] - b.row.begin[b.at]);
    }
    this.hit = -1;
    this.draw();
  }
  toHit(direction) {
    if (this.hits.length === 0) return;
    this.hit = (this.hit + direction + this.hits.length) % this.hits.length;
    const { row, at } = this.hits[this.hit], span = Math.max(row.length[at] * 12, Math.min(this.to - this.from, this.end / 20));
    this.show(row.begin[at] + row.length[at] / 2 - span / 2, row.begin[at] + row.length[at] / 2 + span / 2);
    selection.set(row.step[at]);
  }
  listen() {
    const canvas = this.canvas;
    let drag = null;
    canvas.addEventListener('wheel', (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
      if (!event.ctrlKey && !event.metaKey && !event.altKey && !sideways) return;
      event.preventDefault();
      const amount = sideways ? event.deltaX || event.deltaY : event.deltaY;
      if (sideways) this.show(this.from + (amount / canvas.clientWidth) * (this.to - this.from), this.to + (amount / canvas.clientWidth) * (this.to - this.from));
      else this.zoom(1.0018 ** amount, event.offsetX);
    }, { passive: false });
    canvas.addEventListener('pointerdown', (event) => { drag = { x: event.offsetX, from: this.from, to: this.to, moved: false }; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) return this.showCard(event.offsetX, event.offsetY);
      if (Math.abs(event.offsetX - drag.x) > 3) drag.moved = true;
      if (drag.moved) { this.card.hidden = true; const shift = ((drag.x - event.offsetX) / (canvas.clientWidth - this.labels)) * (drag.to - drag.from); this.show(drag.from + shift, drag.to + shift); }
    });
    canvas.addEventListener('pointerup', (event) => {
      const hit = drag && !drag.moved ? this.hitAt(event.offsetX, event.offsetY) : null;
      drag = null;
      if (hit && hit.row.step[hit.at] !== null && hit.row.step[hit.at] !== undefined) selection.set(hit.row.step[hit.at]);
    });
    canvas.addEventListener('pointerleave', () => { this.card.hidden = true; });
    canvas.addEventListener('dblclick', (event) => {
      const hit = this.hitAt(event.offsetX, event.offsetY);
      if (hit) this.show(hit.row.begin[hit.at] - hit.row.length[hit.at] * 0.1, hit.row.begin[hit.at] + hit.row.length[hit.at] * 1.1);
    });
    const keys = { w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), a: () => this.pan(-0.2), d: () => this.pan(0.2), arrowleft: () => this.pan(-0.2), arrowright: () => this.pan(0.2), '+': () => this.zoom(0.7), '-': () => this.zoom(1 / 0.7), f: () => this.show(0, this.end), 0: () => this.show(0, this.end), n: () => this.toHit(1), p: () => this.toHit(-1), escape: () => selection.set(null) };
    canvas.addEventListener('keydown', (event) => {
      const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key.toLowerCase()];
      if (act) { act(); event.preventDefault(); }
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
  }
  pan(part) { const shift = (this.to - this.from) * part; this.show(this.from + shift, this.to + shift); }
}
