// Beliefs over time: one chart at a time, chosen from those that a perspective may see.

const SOURCES = { exact: "worked out exactly", recorded: "the player\u2019s own, as recorded" };

function beliefPanel(replay) {
  const box = make("div", {}), picker = make("select", { "aria-label": "whose belief", id: "belief" });
  const note = make("p", { class: "small soft" });
  let shown = [], chart = null, at = 0, perspective = EVERYTHING;
  const pick = (id) => {
    const found = shown.find((one) => one.id === id) || shown[0];
    if (!found) return;
    picker.value = found.id;
    chart = beliefChart(replay, found);
    fill(box, chart.element);
    fill(note, plainWords([SOURCES[found.source] || found.source, found.by].filter(Boolean).join(": ")));
    chart.show(at);
  };
  picker.addEventListener("change", () => pick(picker.value));
  const perspectiveIs = (seat) => {
    perspective = seat;
    const before = picker.value;
    shown = replay.beliefs.filter((one) => holds(one.holder, perspective));
    fill(picker, beliefOptions(replay, shown));
    const own = typeof perspective === "number" ? mostMoved(shown.filter((one) => one.holder === perspective)) : null;
    const kept = shown.some((one) => one.id === before) && perspective === EVERYTHING;
    chart = null;
    fill(box);
    pick(kept ? before : (own || telling(shown) || {}).id);
    element.hidden = !replay.beliefs.length;
    none.hidden = shown.length > 0;
    picker.hidden = note.hidden = !shown.length;
  };
  const none = make("p", { class: "soft" }, "Nobody\u2019s belief is known here.");
  const element = make("section", { class: "panel", id: "beliefs" }, make("h2", {}, "Beliefs over time"), picker, none, box, note);
  const show = (step) => { at = step; if (chart) chart.show(step); };
  return { element, show, perspectiveIs };
}

// Grouped by whose belief it is.
function beliefOptions(replay, shown) {
  const groups = new Map();
  for (const one of shown) {
    const whose = one.holder === null || one.holder === undefined ? "an onlooker" : replay.name(one.holder);
    if (!groups.has(whose)) groups.set(whose, []);
    groups.get(whose).push(make("option", { value: one.id }, asText(whose, 60) + ": " + asText(one.title, 120) + (one.source === "exact" ? "" : " (its own)")));
  }
  return [...groups].map(([whose, options]) => make("optgroup", { label: asText(whose, 60) }, options));
}

// An onlooker's, or else the one that moves most often.
function telling(shown) {
  const outside = shown.find((one) => one.holder === null || one.holder === undefined);
  return outside || mostMoved(shown);
}

function mostMoved(beliefs) {
  return beliefs.reduce((best, one) => (!best || one.points.length > best.points.length ? one : best), null);
}

function beliefChart(replay, belief) {
  const subjects = belief.subjects || [];
  const label = (at) => (belief.labels && belief.labels.length ? belief.labels[subjects.length ? subjects[at] : at] : replay.name(subjects[at]));
  const many = belief.points.length ? belief.points[0][1].length : 0;
  const series = Array.from({ length: many }, (_, at) => ({
    name: label(at), kind: subjects.length ? subjects[at] : at,
    points: belief.points.map(([step, values]) => [step, values[at]]) }));
  return lines({ label: asText(belief.title, 120) + ", over the steps of the game", low: belief.low, high: belief.high, last: replay.last,
    unit: belief.title, series });
}
