// A table that sorts by a click on its head and filters by what is typed; it shows the first rows and the rest on demand.
const FIRST_ROWS = 20, MORE_ROWS = 500, SHORT_TEXT = 28;

const makeTable = (data, options = {}) => {
  const hidden = options.hidden || [];
  const columns = data.columns.map((name, index) => ({ name, index })).filter((column) => !hidden.includes(column.name));
  const isNumber = columns.map(({ index }) => data.rows.some((row) => row[index] !== null) && data.rows.every((row) => row[index] === null || typeof row[index] === 'number'));
  const widest = columns.map(({ index }) => Math.max(0, ...data.rows.map((row) => (typeof row[index] === 'number' ? row[index] : 0))));
  const isShort = columns.map(({ index }, at) => !isNumber[at] && data.rows.every((row) => row[index] === null || String(row[index]).length <= SHORT_TEXT));
  const texts = columns.filter((column, at) => !isNumber[at]);
  let order = data.rows.map((row, at) => at), shown = FIRST_ROWS, sorted = null, down = true;

  const body = element('tbody');
  const count = element('span', { class: 'count', 'aria-live': 'polite' });
  const more = element('button', { class: 'more', type: 'button', onclick: () => { shown += MORE_ROWS; draw(); } });
  const filter = element('input', { type: 'search', placeholder: 'filter: text or /regex/', 'aria-label': 'filter rows', oninput: () => { shown = FIRST_ROWS; refresh(); } });

  const cellOf = (row, column, at) => {
    const value = row[column.index];
    if (!isNumber[at]) return element('td', { class: isShort[at] ? 'short' : false }, human(value, column.name));
    if (!column.name.endsWith('share_percent') || widest[at] <= 0) return element('td', { class: 'number' }, human(value, column.name));
    const bar = element('i');
    bar.style.width = `${Math.max(0, Math.min(100, (100 * (value || 0)) / widest[at]))}%`;
    return element('td', { class: 'number share' }, bar, element('span', {}, human(value, column.name)));
  };
  const lineOf = (at) => {
    const row = data.rows[at], step = options.stepOf ? options.stepOf(row) : null;
    const line = element('tr', step === null ? {} : { class: 'pick', tabindex: '0', 'data-step': String(step) }, ...columns.map((column, c) => cellOf(row, column, c)));
    if (step === null) return line;
    const pick = () => selection.set(step);
    line.addEventListener('click', pick);
    line.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') pick();
      const next = event.key === 'ArrowDown' ? line.nextElementSibling : event.key === 'ArrowUp' ? line.previousElementSibling : null;
      if (next) { next.focus(); event.preventDefault(); }
    });
    return line;
  };
  const mark = (step) => {
    for (const line of body.children) line.classList.toggle('chosen', step !== null && line.dataset.step === String(step));
  };
  const draw = () => {
    body.replaceChildren(...order.slice(0, shown).map(lineOf));
    const left = order.length - Math.min(shown, order.length);
    more.textContent = `show ${Math.min(left, MORE_ROWS)} more`;
    more.hidden = left === 0;
    count.textContent = `${Math.min(shown, order.length)} of ${order.length} rows` + (data.more ? `, and ${data.more} that this page leaves out` : '');
    mark(selection.step);
  };
  const refresh = () => {
    const fits = filter.value === '' ? () => true : finder(filter.value);
    order = data.rows.map((row, at) => at).filter((at) => filter.value === '' || texts.some(({ index }) => data.rows[at][index] !== null && fits(String(data.rows[at][index]))));
    if (sorted !== null) {
      const compare = (a, b) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', { numeric: true }));
      order.sort((a, b) => {
        const left = data.rows[a][sorted], right = data.rows[b][sorted];
        if (left === null || right === null) return (left === null) - (right === null);
        return down ? compare(right, left) : compare(left, right);
      });
    }
    draw();
  };
  const heads = columns.map((column, at) => {
    const button = element('button', { type: 'button', onclick: () => {
      down = sorted === column.index ? !down : isNumber[at];
      sorted = column.index;
      for (const head of heads) head.removeAttribute('aria-sort');
      heads[at].setAttribute('aria-sort', down ? 'descending' : 'ascending');
      for (const [c, head] of heads.entries()) head.firstChild.textContent = heading(columns[c].name) + (c === at ? (down ? ' ▼' : ' ▲') : '');
      refresh();
    } }, heading(column.name));
    return element('th', { scope: 'col', class: isNumber[at] ? 'number' : false }, button);
  });
  selection.listeners.push(mark);
  draw();
  const controls = data.rows.length > 8 ? [element('div', { class: 'controls' }, filter, count)] : data.more ? [count] : [];
  return [...controls, element('div', { class: 'scroll' }, element('table', {}, element('thead', {}, element('tr', {}, ...heads)), body)), more];
};
