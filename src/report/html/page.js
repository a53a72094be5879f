// Puts the page together: header, what to look at first, timeline, tables and plots.
const data = JSON.parse(document.getElementById('data').textContent);
const objectOf = (columns, row) => Object.fromEntries(columns.map((name, at) => [name, row[at]]));
const steps = data.steps.rows.map((row) => objectOf(data.steps.columns, row));
for (const step of steps) step.share_percent = data.steps.pass_ns > 0 && step.pass_ns !== null ? (100 * step.pass_ns) / data.steps.pass_ns : null;
const stepByNumber = new Map(steps.map((step) => [step.step, step]));
const stepByName = new Map(steps.map((step) => [step.name, step.step]));
const nameOf = (number) => (stepByNumber.has(number) ? stepByNumber.get(number).name : `step ${number}`);
const facts = data.facts;
colouring.set('kind', steps);

const main = document.getElementById('main'), head = document.getElementById('head');
const links = element('nav', { 'aria-label': 'parts of this page' });
const section = (id, title, about, ...children) => {
  links.append(element('a', { href: `#${id}` }, title));
  const made = element('section', { id }, element('h2', {}, title), about ? element('p', { class: 'about' }, about) : null, ...children);
  main.append(made);
  return made;
};
const factList = (names) => element('dl', {}, ...names.flatMap((name) => [element('dt', {}, name.replaceAll('_', ' ')), element('dd', {}, human(facts[name], name) || 'none')]));

const showHeader = () => {
  const total = (value, what) => element('div', {}, element('b', {}, value), element('span', {}, what));
  head.append(element('h1', {}, facts.module || facts.source || `run ${data.run}`));
  head.append(element('p', { class: 'about' }, `Run ${data.run}: ${facts.kind === 'recorded' ? 'times from a log' : facts.kind === 'predicted' ? 'times predicted, nothing ran,' : 'replayed'}${facts.device ? ` on ${facts.device}` : ''}${facts.machine ? `, ${facts.machine}` : ''}; ${facts.started_utc} UTC; ${facts.tool || 'profile'}`));
  const coverage = data.tables.coverage.rows.map((row) => objectOf(data.tables.coverage.columns, row));
  const ran = coverage.filter((row) => ['kernel', 'library', 'copy', 'host', 'recorded'].includes(row.class));
  const sum = (rows, name) => rows.reduce((value, row) => value + (row[name] || 0), 0);
  const count = steps.length + data.steps.more;
  head.append(element('div', { class: 'totals' }, total(data.steps.pass_ns > 0 ? time(data.steps.pass_ns) : '–', 'a pass, sum of medians'), total(String(count), 'steps'), total(human(facts.passes), 'passes'),
    total(count ? `${sum(ran, 'steps_percent').toFixed(1)} %` : '–', 'of the steps ran as themselves'), total(facts.held_bytes ? bytes(facts.held_bytes) : '–', 'memory of the plan'), total(facts.status, 'status')));
  if (facts.kind === 'predicted') head.append(element('p', { class: 'warning' }, `All times are predicted for ${facts.machine} from a description and a formula (timer, below): nothing was run or measured.`));
  if (facts.status !== 'complete') head.append(element('p', { class: 'warning' }, facts.status === 'running' ? 'This run was still being written when the page was made.' : `This run is ${facts.status}: what is here is what was measured until then.`));
  for (const row of coverage.filter((entry) => ['skip', 'reference', 'stand-in'].includes(entry.class))) {
    head.append(element('p', { class: 'warning' }, `${row.steps} steps are of class ${row.class}${row.pass_ns ? `, ${human(row.share_percent, 'x_percent')} of the time` : ''}: their times are not those of the program.`));
  }
  if (data.tables.notes.rows.length) head.append(element('p', { class: 'about' }, element('a', { href: '#notes' }, `notes of import and replay: ${data.tables.notes.rows.length + data.tables.notes.more}`)));
  const shown = ['module', 'source', 'program', 'status', 'kind', 'device', 'machine', 'threads', 'driver', 'libraries'].filter((name) => facts[name]);
  const others = Object.keys(facts).filter((name) => !shown.includes(name) && facts[name] !== null && facts[name] !== '');
  head.append(element('details', {}, element('summary', {}, 'where and how it ran'), factList([...shown, ...others])), links);
};

const showFindings = () => {
  const table = data.tables.findings, findings = table.rows.map((row) => objectOf(table.columns, row));
  const items = findings.slice(0, 5).map((finding) => {
    const numbers = [finding.time_ns === null ? null : `${time(finding.time_ns)} a pass`, finding.share_percent === null ? null : human(finding.share_percent, 'x_percent'), finding.gain_ns === null ? null : `at most ${time(finding.gain_ns)} to win`].filter(Boolean);
    const select = finding.step === null ? null : element('button', { type: 'button', onclick: () => selection.set(finding.step) }, 'select');
    return element('li', {}, element('div', { class: 'chip' }, finding.finding, select), element('div', { class: 'what' }, finding.what), element('div', { class: 'numbers' }, numbers.join(', ')), element('div', {}, finding.advice || ''));
  });
  section('findings', 'What to look at first', items.length ? null : table.empty, element('ol', { class: 'findings' }, ...items));
};

const CHOSEN = ['opcode', 'kind', 'class', 'precision', 'op_type', 'op_name', 'phase', 'scope', 'source_file', 'source_line', 'n', 'calls', 'min_ns', 'q1_ns', 'median_ns', 'q3_ns', 'mad_ns', 'ci_low_ns', 'ci_high_ns', 'pass_ns', 'share_percent', 'flops', 'bytes', 'saved_bytes', 'intensity_flop_per_byte', 'bound_by', 'attainable_ns', 'gb_per_s', 'gflop_per_s', 'roof_percent', 'worst_error', 'flags', 'why', 'computation', 'key'];
const makeChosen = () => {
  const pane = element('div', { class: 'chosen-step', 'aria-live': 'polite' }, 'Select a step, here or in any table: its numbers stand here.');
  selection.listeners.push((number) => {
    const step = stepByNumber.get(number);
    if (!step) { pane.replaceChildren(number === null ? 'Nothing is selected.' : `Step ${number} is one of the ${data.steps.more} shorter ones that this page leaves out.`); return; }
    const known = CHOSEN.filter((name) => step[name] !== null && step[name] !== undefined && step[name] !== '' && step[name] !== 0);
    pane.replaceChildren(element('b', {}, `${step.name} (step ${step.step})`), element('dl', {}, ...known.map((name) => element('div', {}, element('dt', {}, heading(name)), element('dd', {}, human(step[name], name))))));
  });
  return pane;
};

const showTimeline = () => {
  const modes = {};
  if (steps.some((step) => step.pass_ns > 0)) modes['one pass, medians'] = () => medianRows(steps, stepByNumber);
  if (data.timeline.lanes.length > 0) modes['as it happened'] = () => runRows(data);
  if (Object.keys(modes).length === 0) { section('timeline', 'Timeline', 'No step has a time.', makeChosen()); return null; }
  const timeline = new Timeline(steps, stepByNumber, modes);
  const buttons = Object.keys(modes).map((name, at) => element('button', { type: 'button', 'aria-pressed': String(at === 0), onclick: (event) => {
    for (const button of buttons) button.setAttribute('aria-pressed', String(button === event.currentTarget));
    timeline.setMode(name);
    timeline.search(search.value);
  } }, name));
  const count = element('span', { class: 'count', 'aria-live': 'polite' });
  const search = element('input', { type: 'search', placeholder: 'search: name, scope or /regex/', 'aria-label': 'search steps', oninput: () => {
    timeline.search(search.value);
    count.textContent = search.value ? `${timeline.hits.length} hits (Enter: next)` : '';
  }, onkeydown: (event) => { if (event.key === 'Enter') timeline.toHit(event.shiftKey ? -1 : 1); } });
  const colour = element('select', { 'aria-label': 'colour', onchange: () => colouring.set(colour.value, steps) }, ...Object.keys(COLOURINGS).map((name) => element('option', { value: name }, name)));
  const legend = element('div', { class: 'legend' });
  const explain = () => {
    const shown = colouring.shares.slice(0, 8).filter(([, ns]) => ns >= 0.0005 * data.steps.pass_ns), rest = colouring.shares.length - shown.length;
    legend.replaceChildren(...shown.map(([name, ns]) => {
      const patch = element('i');
      patch.style.background = colouring.colours.get(name);
      return element('span', {}, patch, `${name} ${data.steps.pass_ns > 0 ? `${((100 * ns) / data.steps.pass_ns).toFixed(1)} %` : ''}`);
    }), rest > 0 ? `and ${rest} more` : '');
  };
  colouring.listeners.push(explain);
  explain();
  const buckets = data.timeline.lanes.some((lane) => lane.busy.length);
  section('timeline', 'Timeline', `Ctrl+wheel zooms to the cursor, drag moves, a click selects, a double click zooms to a slice; with the keyboard W S A D, F for all, N and P for hits.${data.steps.more ? ` Of the steps the ${steps.length} longest are here, ${data.steps.more} are not.` : ''}${buckets ? ' As it happened: folded, a bar is as high as its stretch is busy; profile-view shows every slice.' : ''}${data.timeline.more ? ` ${data.timeline.more} more lanes are left out.` : ''}`,
    element('div', { class: 'controls' }, ...buttons, element('button', { type: 'button', onclick: () => timeline.zoom(0.6) }, 'zoom in'), element('button', { type: 'button', onclick: () => timeline.zoom(1 / 0.6) }, 'zoom out'), element('button', { type: 'button', onclick: () => timeline.show(0, timeline.end) }, 'all'), element('label', {}, 'colour', colour), search, count),
    legend, timeline.node, makeChosen());
  document.addEventListener('keydown', (event) => { if (event.key === '/' && !/^(INPUT|SELECT)$/.test(document.activeElement.tagName)) { search.focus(); event.preventDefault(); } });
  return timeline;
};

const showTables = () => {
  const columns = ['step', 'name', 'op_name', 'kind', 'calls', 'median_ns', 'share_percent', 'gb_per_s', 'gflop_per_s', 'roof_percent', 'class', 'phase', 'flags'];
  const longest = [...steps].filter((step) => step.pass_ns !== null || step.why).sort((a, b) => (b.pass_ns || 0) - (a.pass_ns || 0));
  const top = { columns, rows: longest.map((step) => columns.map((name) => (name === 'kind' ? COLOURINGS.kind(step) : step[name]))), more: data.steps.more };
  section('top', 'Where the time goes', null, ...(top.rows.length ? makeTable(top, { stepOf: (row) => row[0], hidden: ['step'] }) : [element('p', { class: 'about' }, 'The run has no steps.')]));
  const report = (id, title, options = {}) => {
    const table = data.tables[id];
    section(id, title, table.rows.length ? table.about : table.empty, ...(table.rows.length ? makeTable(table, options) : []));
  };
  const byName = { stepOf: (row) => stepByName.get(row[0]) ?? null };
  report('fusions', 'Fusions', byName);
  const plots = element('div', { class: 'plots' });
  const ceilings = data.ceilings.rows.map((row) => objectOf(data.ceilings.columns, row));
  section('roofline', 'Roofline', 'Each step by its work per byte and its rate, as large as its time; lines are the limits that were measured in the run. Colours as in the timeline.', plots);
  const redraw = () => plots.replaceChildren(makeRoofline(steps, ceilings));
  colouring.listeners.push(redraw);
  redraw();
  report('layers', 'Layers');
  section('memory', 'Memory', data.tables.memory.rows.length ? 'Live bytes over a pass, and what is alive where they are most.' : data.tables.memory.empty, element('div', { class: 'plots' }, makeMemory(data.memory, nameOf), element('div', {}, ...(data.tables.memory.rows.length ? makeTable(data.tables.memory, { hidden: ['at_step'] }) : []))));
  report('ops', 'Operators', { hidden: ['op'] });
  report('optypes', 'Operator types');
  report('phases', 'Phases');
  report('source', 'Source lines');
  report('coverage', 'Coverage');
  report('gaps', 'Steps that did not run as themselves', byName);
  report('kernels', 'Kernels');
  report('notes', 'Notes');
};

showHeader();
showFindings();
const timeline = showTimeline();
showTables();
main.append(element('footer', {}, 'Made by profile export --html. Everything is in this file; nothing is loaded from elsewhere.'));
for (const [event, on] of [['beforeprint', true], ['afterprint', false]]) {
  addEventListener(event, () => { document.documentElement.classList.toggle('print', on); if (timeline) timeline.paint(); });
}
