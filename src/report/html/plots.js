// Roofline and memory curve as SVG: text stays text, and prints.
const drawn = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
};
const WIDTH = 800, HEIGHT = 420, LEFT = 66, RIGHT = 16, TOP = 16, BOTTOM = 44;

const powersOfTen = (low, high) => {
  const list = [];
  for (let power = Math.ceil(Math.log10(low)); power <= Math.floor(Math.log10(high)); ++power) list.push(10 ** power);
  return list;
};
const powerText = (value) => (value >= 0.01 && value < 1e5 ? String(value) : value.toExponential(0).replace('e+', 'e'));

const makeRoofline = (steps, ceilings) => {
  const points = steps.filter((step) => step.flops > 0 && step.bytes > 0 && step.median_ns > 0).map((step) => ({ step, x: step.flops / step.bytes, y: step.flops / step.median_ns }));
  const memory = (ceilings.find((row) => row.bytes_per_s > 0) || {}).bytes_per_s / 1e9;
  const products = ceilings.filter((row) => row.flops_per_s > 0).map((row) => ({ name: row.limit_of, y: row.flops_per_s / 1e9 }));
  if (points.length === 0) return element('p', { class: 'about' }, 'No step has both work and traffic: the times are recorded, or nothing was timed.');
  const highest = Math.max(...products.map((product) => product.y), ...points.map((point) => point.y));
  const ridges = memory ? products.map((product) => product.y / memory) : [];
  const lowX = Math.min(0.1, ...points.map((p) => p.x)) / 1.5, highX = Math.max(10, ...points.map((p) => p.x), ...ridges) * 3;
  const lowY = Math.min(...points.map((p) => p.y)) / 2, highY = highest * 3;
  const xOf = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * Math.log(value / lowX)) / Math.log(highX / lowX);
  const yOf = (value) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * Math.log(value / lowY)) / Math.log(highY / lowY);
  const svg = drawn('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': 'roofline: work rate of each step over its work per byte' });
  for (const x of powersOfTen(lowX, highX)) {
    svg.append(drawn('line', { class: 'grid', x1: xOf(x), x2: xOf(x), y1: TOP, y2: HEIGHT - BOTTOM }), drawn('text', { x: xOf(x), y: HEIGHT - BOTTOM + 16, 'text-anchor': 'middle' }, powerText(x)));
  }
  for (const y of powersOfTen(lowY, highY)) {
    svg.append(drawn('line', { class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: yOf(y), y2: yOf(y) }), drawn('text', { x: LEFT - 8, y: yOf(y) + 4, 'text-anchor': 'end' }, powerText(y)));
  }
  svg.append(drawn('text', { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, 'text-anchor': 'middle' }, 'work per byte moved, FLOP/byte'),
    drawn('text', { x: 14, y: (TOP + HEIGHT - BOTTOM) / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${(TOP + HEIGHT - BOTTOM) / 2})` }, 'GFLOP/s'));
  const most = Math.max(...points.map((point) => point.step.pass_ns || 0)) || 1;
  const circles = points.sort((a, b) => b.step.pass_ns - a.step.pass_ns).map((point) => {
    const circle = drawn('circle', { cx: xOf(point.x), cy: yOf(point.y), r: 2.5 + 12 * Math.sqrt((point.step.pass_ns || 0) / most), fill: colourOf(point.step) },
      drawn('title', {}, `${point.step.name}\n${threeDigits(point.y)} GFLOP/s, ${threeDigits(point.x)} FLOP/byte\n${time(point.step.pass_ns)} a pass, ${human(point.step.roof_percent, 'percent')} of its roof`));
    circle.addEventListener('click', () => selection.set(point.step.step));
    return [point.step.step, circle];
  });
  svg.append(...circles.map(([, circle]) => circle));
  if (memory) {
    const top = products.length ? Math.max(...products.map((p) => p.y)) : highY;
    const begin = Math.max(lowX, lowY / memory);
    svg.append(drawn('path', { class: 'roof', d: `M${xOf(begin)} ${yOf(begin * memory)}L${xOf(top / memory)} ${yOf(top)}` }));
    const at = Math.sqrt(begin * (top / memory)), angle = (Math.atan2(yOf(at * memory) - yOf(at * memory * 1.1), xOf(at * 1.1) - xOf(at)) * -180) / Math.PI;
    svg.append(drawn('text', { class: 'ink halo', x: xOf(at), y: yOf(at * memory) - 7, 'text-anchor': 'middle', transform: `rotate(${angle} ${xOf(at)} ${yOf(at * memory)})` }, `memory ${threeDigits(memory)} GB/s`));
  }
  for (const product of products) svg.append(drawn('path', { class: 'roof', d: `M${memory ? xOf(product.y / memory) : LEFT} ${yOf(product.y)}L${WIDTH - RIGHT} ${yOf(product.y)}` }));
  if (products.length) {
    const names = products.sort((a, b) => a.y - b.y).map((product) => `${product.name.split('×')[0]} ${threeDigits(product.y)}`);
    svg.append(drawn('text', { class: 'ink halo', x: WIDTH - RIGHT - 4, y: yOf(products.at(-1).y) - 8, 'text-anchor': 'end' }, `products: ${names.join(', ')} GFLOP/s`));
  }
  selection.listeners.push((step) => { for (const [of, circle] of circles) circle.classList.toggle('chosen', of === step); });
  return svg;
};

const makeMemory = (points, nameOf) => {
  if (points.length === 0) return element('p', { class: 'about' }, 'No memory was planned: the times are recorded.');
  const last = Math.max(1, points.at(-1)[0]), most = Math.max(...points.map(([, live]) => live)) || 1;
  const xOf = (step) => LEFT + ((WIDTH - LEFT - RIGHT) * step) / last, yOf = (live) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * live) / (most * 1.12);
  const svg = drawn('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': 'live memory over the steps of a pass' });
  for (let part = 0; part <= 4; ++part) {
    const live = (most * part) / 4;
    svg.append(drawn('line', { class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: yOf(live), y2: yOf(live) }), drawn('text', { x: LEFT - 8, y: yOf(live) + 4, 'text-anchor': 'end' }, bytes(live)));
    const step = Math.round((last * part) / 4);
    svg.append(drawn('text', { x: xOf(step), y: HEIGHT - BOTTOM + 16, 'text-anchor': part === 0 ? 'start' : part === 4 ? 'end' : 'middle' }, String(step)));
  }
  let line = `M${xOf(points[0][0])} ${yOf(0)}`;
  for (const [at, [step, live]] of points.entries()) line += `L${xOf(step)} ${yOf(live)}H${xOf(at + 1 < points.length ? points[at + 1][0] : last)}`;
  svg.append(drawn('path', { class: 'area', d: `${line}V${yOf(0)}Z` }));
  const [step, live] = points.find((point) => point[1] === most) || points[0];
  const side = xOf(step) > WIDTH / 2 ? 'end' : 'start';
  svg.append(drawn('circle', { cx: xOf(step), cy: yOf(live), r: 5, fill: 'var(--hit)' }),
    drawn('text', { class: 'ink halo', x: xOf(step) + (side === 'end' ? -9 : 9), y: yOf(live) - 6, 'text-anchor': side }, `peak ${bytes(live)} at ${nameOf(step)}`),
    drawn('text', { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, 'text-anchor': 'middle' }, 'step in plan order'));
  svg.addEventListener('click', (event) => {
    const box = svg.getBoundingClientRect();
    selection.set(Math.max(0, Math.min(last, Math.round((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT) * last))));
  });
  return svg;
};
