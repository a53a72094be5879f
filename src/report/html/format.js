// Numbers for people: the end of a column's name tells the unit, as src/report/units.cc spells them.
const threeDigits = (value) => {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.9995) return value.toFixed(2);
  return size >= 0.001 ? value.toFixed(3) : value.toExponential(1);
};

const withPrefix = (value, unit, prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E']) => {
  let at = 0;
  while (Math.abs(value) >= 999.5 && at + 1 < prefixes.length) { value /= 1000; ++at; }
  return (at === 0 ? value.toFixed(0) : threeDigits(value)) + ' ' + prefixes[at] + unit;
};

const time = (ns) => {
  if (ns === 0) return '0 s';
  const size = Math.abs(ns);
  if (size < 999.5) return threeDigits(ns).replace(/\.\d+$/, (part) => (size < 9.995 ? part : '')) + ' ns';
  if (size < 999500) return threeDigits(ns / 1e3) + ' µs';
  return size < 999.5e6 ? threeDigits(ns / 1e6) + ' ms' : threeDigits(ns / 1e9) + ' s';
};

const plainNumber = (value) => (Number.isInteger(value) ? String(value) : threeDigits(value));
const bytes = (value) => withPrefix(value, 'B');

/// Longer endings before those that they end with.
const UNITS = [
  ['gb_per_s', 'GB/s', threeDigits], ['gflop_per_s', 'GFLOP/s', threeDigits], ['flop_per_byte', 'FLOP/byte', threeDigits],
  ['bytes_per_s', '', (v) => bytes(v) + '/s'], ['flops_per_s', '', (v) => withPrefix(v, 'FLOP/s')],
  ['flops', 'work', (v) => withPrefix(v, 'FLOP')], ['bytes', 'size', bytes], ['percent', '', (v) => v.toFixed(1) + ' %'], ['ns', '', time],
];
const unitOf = (column) => UNITS.find(([end]) => column === end || column.endsWith('_' + end));

const heading = (column) => {
  const unit = unitOf(column);
  let text = (unit ? column.slice(0, column.length - unit[0].length) : column).replace(/_+$/, '').replaceAll('_', ' ');
  if (unit && (text === '' || unit[2] === threeDigits)) text += (text ? ' ' : '') + (unit[1] || unit[0]);
  return text;
};

const human = (value, column = '') => {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  const unit = unitOf(column);
  return unit ? unit[2](value) : plainNumber(value);
};

/// An element; texts become text nodes, so that no name is ever markup.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

/// "abc" is looked for as it stands, "/a.c/" as a regular expression; a broken one finds nothing.
const finder = (text) => {
  const pattern = /^\/(.+)\/$/.exec(text);
  if (!pattern) {
    const low = text.toLowerCase();
    return (name) => name.toLowerCase().includes(low);
  }
  try {
    const expression = new RegExp(pattern[1], 'i');
    return (name) => expression.test(name);
  } catch {
    return () => false;
  }
};

/// What is selected in one part of the page is selected in all.
const selection = {
  step: null, listeners: [],
  set(step) { this.step = step; for (const listener of this.listeners) listener(step); },
};
