// Lines over steps, drawn as SVG: a legend whose entries switch their line and tell its value, a cursor, a pointer.
// const chart = lines({label, low, high, last, unit, series: [{name, kind, points: [[x, y], ...]}]})
//   points ascend in x and hold until the next one (steps); kind: number of its colour and dash; y null: no value
// chart.show(x)   the cursor at x, and the values there in the legend

const CHART = { wide: 760, narrow: 380, height: 250, left: 40, right: 12, top: 12, bottom: 28 };
const DASHES = ["", "7 4", "2 3", "9 3 2 3", "12 4", "4 2", "1 4", "10 2 2 2 2 2", "5 5", "3 6"];

function lines(spec) {
  const svg = draw("svg", { role: "img", "aria-label": spec.label });
  const legend = spec.series.map((one) => legendEntry(one, () => redraw()));
  const told = make("p", { class: "small soft" });
  const element = make("div", { class: "chart" }, svg, told, make("ul", { class: "legend" }, legend.map((one) => make("li", {}, one.button))));
  let at = 0, width = 0, area = null, cursor = null, pointer = null;
  const redraw = () => {
    area = chartArea(spec, width);
    cursor = upright("cursor");
    pointer = upright("pointer");
    pointer.setAttribute("visibility", "hidden");
    svg.setAttribute("viewBox", `0 0 ${width} ${CHART.height}`);
    fill(svg, axes(spec, area, width), spec.series.filter((_, number) => legend[number].on()).map((one) => seriesPath(one, area, spec.last)), cursor, pointer);
    across(cursor, area.x(at));
  };
  const tell = (x, how) => {
    fill(told, how + " " + x, spec.unit ? [": ", plainWords(spec.unit)] : "");
    legend.forEach((one, number) => one.tell(valueAt(spec.series[number].points, x)));
  };
  const show = (x) => { at = x; across(cursor, area.x(x)); tell(x, "at step"); };
  const fit = (room) => { const wanted = room && room < 560 ? CHART.narrow : CHART.wide; if (wanted !== width) { width = wanted; redraw(); } };
  new ResizeObserver((seen) => fit(seen[0].contentRect.width)).observe(element);
  fit(document.documentElement.clientWidth);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * width - CHART.left) / (width - CHART.left - CHART.right);
    const x = Math.round(Math.min(1, Math.max(0, share)) * spec.last);
    across(pointer, area.x(x));
    pointer.removeAttribute("visibility");
    tell(x, "pointed at step");
  });
  svg.addEventListener("pointerleave", () => { pointer.setAttribute("visibility", "hidden"); show(at); });
  return { element, show };
}

// Where values lie in the drawing.
function chartArea(spec, width) {
  return { x: (x) => CHART.left + (x / Math.max(1, spec.last)) * (width - CHART.left - CHART.right),
    y: (y) => CHART.top + ((spec.high - y) / (spec.high - spec.low || 1)) * (CHART.height - CHART.top - CHART.bottom) };
}

function seriesPath(one, area, last) {
  return draw("path", { class: "series s" + (one.kind % 10), "stroke-dasharray": DASHES[one.kind % 10] || null, d: stepPath(one.points, area, last) });
}

function upright(kind) {
  return draw("line", { class: kind, x1: CHART.left, x2: CHART.left, y1: CHART.top, y2: CHART.height - CHART.bottom });
}

function across(line, x) {
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
}

function stepPath(points, area, last) {
  const parts = [];
  let before = null;
  for (const [x, y] of points) {
    if (y === null) { if (before !== null) parts.push("H" + area.x(x).toFixed(1)); }
    else parts.push((before === null ? "M" : "H") + area.x(x).toFixed(1) + (before === null ? " " : "V") + area.y(y).toFixed(1));
    before = y;
  }
  if (before !== null) parts.push("H" + area.x(last).toFixed(1));
  return parts.join("");
}

function axes(spec, area, width) {
  const middle = (spec.low + spec.high) / 2;
  const across = [spec.low, middle, spec.high].map((y) => [
    draw("line", { class: "grid", x1: CHART.left, x2: width - CHART.right, y1: area.y(y), y2: area.y(y) }),
    draw("text", { x: CHART.left - 6, y: area.y(y) + 4, "text-anchor": "end" }, valueTold(y))]);
  const marks = ticks(spec.last).map((x) => [
    draw("line", { class: "axis", x1: area.x(x), x2: area.x(x), y1: CHART.height - CHART.bottom, y2: CHART.height - CHART.bottom + 4 }),
    draw("text", { x: area.x(x), y: CHART.height - CHART.bottom + 17, "text-anchor": "middle" }, String(x))]);
  return [...across.flat(), ...marks.flat()];
}

// At most six round numbers from 0 to the last.
function ticks(last) {
  const rough = Math.max(1, last / 5), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, number) => number * step);
}

// Its button switches the line; the value is shown rounded, and whole as the title.
function legendEntry(one, changed) {
  const value = make("span", { class: "mono value" });
  const sample = draw("svg", { viewBox: "0 0 30 12", "aria-hidden": "true" },
    draw("line", { class: "series s" + (one.kind % 10), "stroke-dasharray": DASHES[one.kind % 10] || null, x1: 0, x2: 30, y1: 6, y2: 6 }));
  const button = make("button", { type: "button", "aria-pressed": "true" }, sample, plainWords(one.name), value);
  const on = () => button.getAttribute("aria-pressed") === "true";
  button.addEventListener("click", () => { button.setAttribute("aria-pressed", String(!on())); changed(); });
  const tell = (y) => { fill(value, valueTold(y)); value.title = y === null ? "" : String(y); };
  return { button, on, tell };
}

// The y that holds at x: that of the last point at or before it; null before the first. points ascend: halved each time.
function valueAt(points, x) {
  let low = 0, high = points.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if (points[half][0] <= x) low = half + 1; else high = half;
  }
  return low ? points[low - 1][1] : null;
}

function valueTold(y) {
  return y === null ? "\u2013" : (Math.round(y * 1000) / 1000).toString();
}
