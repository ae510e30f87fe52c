// The replay page: puts its parts together, and moves them together through the steps.
// It opens at the end, and with #play it plays from the beginning; the result is shown at the last step only. Keys: left and right
// one step (that the perspective sees), Page Up and Page Down ten, Home and End, space to play and pause; links #step=41&seat=3.

function viewer(told) {
  const replay = readReplay(told);
  const place = { step: replay.last, perspective: EVERYTHING };
  const go = (step, perspective) => { history.replaceState(null, "", writeHash(step, perspective)); arrive(); };
  const href = (step) => writeHash(step, place.perspective);
  const differ = new Set(replay.seats.map((card) => card.player || "")).size > 1; // else the table below the record says it once
  const table = ring(replay.seats.map((card, seat) => ({ name: replay.name(seat), player: differ ? card.player : "" })), (seat) => go(place.step, place.perspective === seat ? EVERYTHING : seat));
  const on = (how) => go(moved(replay, seen, place.step, how), place.perspective);
  const player = gamePlayer(() => { on(1); return place.step < replay.last; }, () => { if (place.step === replay.last) on("first"); });
  const byHand = (how) => { player.stop(); on(how); };
  const controls = controlBar(replay, (step) => { player.stop(); go(step, place.perspective); }, (seat) => go(place.step, seat), player.element);
  const talk = make("div", { class: "scrolls talk" });
  const self = selfPanel(replay), beliefs = beliefPanel(replay), documents = documentsPanel(replay), graphs = graphPanel(replay);
  const players = playersPanel(replay), head = pageHead(replay);
  const stepBox = make("section", { class: "panel", id: "step", "aria-label": "the step" });
  const matter = make("section", { class: "panel", id: "matter" });
  let conversation = null, tables = [], seen = [];

  const perspectiveChanged = () => {
    const items = recordItems(replay, place.perspective, href);
    conversation = record(items);
    fill(talk, conversation.element);
    tables = replay.tables.map((one) => matterTable(replay, one, place.perspective));
    matter.hidden = !tables.length;
    fill(matter, make("h2", {}, "What was decided"), tables.map((one) => one.element));
    [beliefs, documents, graphs].forEach((one) => one.perspectiveIs(place.perspective));
    seen = place.perspective === EVERYTHING ? null : [...new Set([0, ...items.map((item) => item.step), replay.last])];
  };
  const arrive = () => {
    const asked = readHash(location.hash, replay.last, replay.seats.length);
    const changed = conversation === null || asked.perspective !== place.perspective;
    place.step = asked.step === null ? replay.last : asked.step;
    place.perspective = asked.perspective;
    if (changed) perspectiveChanged();
    table.show(seatStates(replay, place.step, place.perspective), ringMiddle(replay, place.step));
    conversation.show(place.step);
    [...tables, beliefs, documents, graphs].forEach((one) => one.show(place.step));
    [self, players].forEach((one) => one.show(place.step, place.perspective));
    fill(stepBox, stepPanel(replay, place.step, place.perspective));
    controls.show(place.step, place.perspective);
    head.show(place.step);
  };
  addEventListener("hashchange", arrive);
  addEventListener("keydown", (event) => onKey(event, byHand, player.toggle));
  controls.moves(byHand);

  const left = make("div", { class: "left" }, make("section", { class: "panel", "aria-label": "the table" }, table.element), self.element, stepBox);
  const right = make("section", { class: "panel conversation", "aria-label": "the record" }, make("h2", {}, "The record"), talk);
  document.body.prepend(make("header", { class: "page" }, head.elements), controls.element,
    make("main", { class: "page replay" }, make("div", { class: "two" }, left, right), matter, beliefs.element, graphs.element, documents.element,
      players.element));
  const plays = location.hash === "#play" || (replay.header.plays && location.hash === "");
  arrive();
  if (plays) player.toggle(); // from the end, where the page opens, it goes back to the beginning
}

function pageHead(replay) {
  const header = replay.header;
  const told = [header.file, header.seed === undefined || header.seed === null ? "" : "seed " + header.seed, replay.last + " steps"].filter(Boolean).join(" \u00b7 ");
  const side = sideClass(replay, header.winner);
  const result = [make("p", { class: "ended " + side }, plainWords(header.ended || "")),
    header.turned ? make("p", {}, "Where it turned: ", plainWords(header.turned.why), " ",
      make("a", { href: writeHash(header.turned.step, EVERYTHING), "aria-label": "go to where it turned" }, "step " + header.turned.step)) : null].filter(Boolean);
  const elements = [make("div", { class: "head" }, make("h1", {}, plainWords(header.title)), make("span", { class: "soft small" }, plainWords(told))),
    result, (header.notes || []).map((note) => make("p", { class: "note" }, words(note))),
    (header.links || []).map(([href, text]) => make("p", {}, make("a", { href }, plainWords(text)))),
    header.rules ? howToPlay(header.rules) : null];
  const show = (step) => result.forEach((line) => { line.hidden = step < replay.last; });
  return { elements, show };
}

function howToPlay(rules) {
  return make("details", { class: "how" }, make("summary", {}, "How this game is played"),
    make("div", { class: "inside" }, rules.split(/\n\s*\n/).map((part) => part.split("\n").map((line) => make("p", {}, words(line)))).flat()));
}

// The step that a move leads to; of a perspective only steps that it sees something of are stops.
function moved(replay, seen, step, how) {
  if (how === "first") return 0;
  if (how === "last") return replay.last;
  const stops = seen || null;
  if (!stops) return Math.min(replay.last, Math.max(0, step + how));
  const after = stops.filter((one) => one > step), before = stops.filter((one) => one < step);
  const list = how > 0 ? after : before.reverse();
  return list.length ? list[Math.min(list.length, Math.abs(how)) - 1] : step;
}

const KEYS = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: "first", End: "last" };

function onKey(event, move, toggle) {
  if (!(event.key in KEYS || event.key === " ") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target instanceof Element && event.target.closest("select, textarea, .table, input:not([type=range])")) return;
  if (event.key === " " && event.target instanceof Element && event.target.closest("button, summary, a")) return; // it presses them
  event.preventDefault();
  if (event.key === " ") toggle(); else move(KEYS[event.key]);
}

function controlBar(replay, toStep, toPerspective, playing) {
  let move = () => {};
  const button = (sign, name, how) => make("button", { type: "button", "aria-label": name, title: name, onclick: () => move(how) }, sign);
  const slider = make("input", { type: "range", min: 0, max: replay.last, value: 0, "aria-label": "step", id: "scrubber" });
  slider.addEventListener("input", () => toStep(Number(slider.value)));
  const count = make("output", { class: "count", for: "scrubber" });
  const options = [["", "everything"], [PUBLIC, "what everybody knows"], ...replay.seats.map((_, seat) =>
    [String(seat), "what " + asText(replay.name(seat), 60) + " knows"])];
  const picker = make("select", { id: "perspective", "aria-label": "what is shown" }, options.map(([value, text]) => make("option", { value }, text)));
  picker.addEventListener("change", () => toPerspective(picker.value === "" ? EVERYTHING : picker.value === PUBLIC ? PUBLIC : Number(picker.value)));
  const element = make("nav", { class: "controls", "aria-label": "steps" }, make("div", { class: "bar page" },
    make("div", { class: "row" }, button("|\u25c0", "first step (Home)", "first"), button("\u25c0", "one step back (left arrow)", -1),
      button("\u25b6", "one step on (right arrow)", 1), button("\u25b6|", "last step (End)", "last")), playing,
    make("div", { class: "grow slide" }, slider), count, make("label", { class: "row small" }, "Show", picker)));
  const show = (step, perspective) => {
    slider.value = step;
    fill(count, step + " / " + replay.last);
    picker.value = perspective === EVERYTHING ? "" : String(perspective);
  };
  return { element, show, moves: (how) => { move = how; } };
}

viewer(pageData());
