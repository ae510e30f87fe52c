// What lies beside the record: documents (a case, clues, a quiz), what a seat was told of itself, graphs of a question.

function documentsPanel(replay) {
  const box = make("div", {});
  const element = make("section", { class: "panel", id: "documents" }, make("h2", {}, "Documents"), box);
  let step = -1, perspective = EVERYTHING, told = "";
  const refresh = () => {
    const shown = replay.documents.filter((one) => (one.step || 0) <= step && knows(one.to, perspective));
    const key = shown.length + ":" + perspective;
    if (key === told) return;
    told = key;
    element.hidden = !shown.length;
    fill(box, shown.map((one) => fold(documentTitle(replay, one), () => words(one.text))));
  };
  return { element, show: (at) => { step = at; refresh(); }, perspectiveIs: (seat) => { perspective = seat; told = ""; refresh(); } };
}

function documentTitle(replay, one) {
  const secret = one.to !== null && one.to !== undefined;
  return make("span", {}, plainWords(one.title), " ", secret ? badge("known to " + namesOf(replay, one.to), "secret") : null);
}

// What the chosen seat's text says of itself at a step.
function selfPanel(replay) {
  const element = make("section", { class: "panel", id: "self" });
  const show = (step, perspective) => {
    element.hidden = typeof perspective !== "number";
    if (element.hidden) return;
    const told = replay.who.filter((one) => one.seat === perspective && one.step <= step);
    const newest = told[told.length - 1];
    fill(element, make("h2", {}, "What ", plainWords(replay.name(perspective)), " knows of itself"),
      make("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "what the seat knows of itself" },
        newest ? plainWords(newest.text) : make("p", { class: "soft" }, "nothing yet")));
  };
  return { element, show };
}

const KINDS = ["document", "sentence", "entity", "concept"];
const MOST_NODES = 14; // of one kind that are drawn; those on the path come first

function graphPanel(replay) {
  const box = make("div", {});
  const element = make("section", { class: "panel", id: "graphs" }, make("h2", {}, "Documents and their links"), box);
  let perspective = EVERYTHING, last = null;
  const show = (step) => {
    const known = replay.graphs.filter((one) => one.step <= step && knows(one.to, perspective));
    const newest = known[known.length - 1] || null;
    element.hidden = !newest;
    if (newest && newest !== last) fill(box, graphDrawing(newest));
    last = newest;
  };
  return { element, show, perspectiveIs: (seat) => { perspective = seat; } };
}

function graphDrawing(graph) {
  const path = graph.path || [];
  const kinds = graph.nodes.map(([, kind]) => String(kind).toLowerCase());
  const columns = [...new Set([...KINDS, ...kinds])].filter((kind) => kinds.includes(kind)).slice(0, 6).map((kind) => {
    const all = kinds.map((of, number) => [number, of]).filter(([, of]) => of === kind).map(([number]) => number);
    all.sort((one, other) => path.includes(other) - path.includes(one));
    return { kind, shown: all.slice(0, MOST_NODES), more: all.length - Math.min(all.length, MOST_NODES) };
  }).filter((column) => column.shown.length);
  if (!columns.length) return [make("p", {}, words(graph.title))];
  const across = 760 / columns.length, places = new Map();
  columns.forEach((column, at) => column.shown.forEach((node, row) => places.set(node, [at * across + 12, 42 + row * 26])));
  const height = 60 + 26 * Math.max(...columns.map((column) => column.shown.length));
  const steps = new Set(path.slice(1).map((node, at) => [Math.min(node, path[at]), Math.max(node, path[at])].join("-")));
  const edges = graph.edges.filter(([a, b]) => places.has(a) && places.has(b)).map(([a, b]) => edgeLine(places.get(a), places.get(b), steps.has([Math.min(a, b), Math.max(a, b)].join("-"))));
  const heads = columns.map((column, at) => draw("text", { x: at * across + 4, y: 18, class: "heading" }, asText(column.kind, 20) + (column.more ? " (" + column.more + " more)" : "")));
  const nodes = [...places].map(([node, at]) => graphNode(graph.nodes[node], at, path.includes(node), across));
  const svg = draw("svg", { viewBox: `0 0 760 ${height}`, role: "img", "aria-label": asText(graph.title, 120) }, edges, nodes, heads);
  const taken = path.length ? [make("h3", {}, "Path"), make("ol", { class: "small" }, path.map((node) => make("li", {}, words(graph.nodes[node][0]), " ", badge(graph.nodes[node][1], "plain"))))] : [];
  return [make("p", {}, words(graph.title)), make("div", { class: "chart graph" }, svg), ...taken];
}

function edgeLine([x, y], [to, down], onPath) {
  return draw("line", { class: onPath ? "link taken" : "link", x1: x, y1: y, x2: to, y2: down });
}

function graphNode([label, kind], [x, y], onPath, room) {
  const most = Math.floor((room - 24) / 7), text = String(label);
  const short = text.length > most ? text.slice(0, Math.max(1, most - 1)) + "\u2026" : text;
  return draw("g", { class: onPath ? "node taken" : "node" }, draw("title", {}, asText(kind + ": " + text, 400)),
    draw("circle", { cx: x, cy: y, r: 5 }), draw("text", { x: x + 10, y: y + 4 }, asText(short)));
}
