// One step in full: what the seat was asked and might do, what it answered in its own words, and every call to a model.

function stepPanel(replay, number, perspective) {
  const step = replay.steps[number];
  const head = make("h2", {}, "Step " + number + " of " + replay.last);
  if (!knows(step.whom, perspective) && step.kind !== "end") {
    const seen = replay.lines.some((line) => line.step === number && knows(line.to, perspective));
    const told = seen ? "What everybody learns of it stands in the record." : "Something happens that is not seen from here.";
    return [head, make("p", { class: "soft" }, told)];
  }
  const own = holds(step.seat < 0 ? null : step.seat, perspective);
  return [head, what(replay, step), faultNote(step), own ? inWords(step) : null,
    own && step.notes && step.notes.search ? searchPart(step.notes.search) : null,
    own && step.choice !== undefined ? choicePart(replay.choices[step.choice], step) : null,
    own ? (step.asks || []).map((call, at) => callPart(replay, call, at)) : null,
    perspective === EVERYTHING && step.notes && Object.keys(step.notes).length ? fold("Notes in the transcript", () => asJson(step.notes)) : null];
}

function what(replay, step) {
  if (step.kind === "end") return make("p", {}, plainWords(replay.header.ended || "The record ends here."));
  const who = step.seat < 0 ? "The moderator" : replay.name(step.seat);
  return make("p", {}, make("strong", {}, plainWords(who)), " ", badge(step.kind.replaceAll("_", " "), "plain"), " ",
    step.said ? words(step.said) : null, step.words && step.words !== step.said ? [" ", words(step.words)] : null);
}

function faultNote(step) {
  if (step.fault) return make("p", { class: "note" }, "These words were refused (" + step.fault + "): they were no move, and nobody heard them.");
  if (step.by) return make("p", { class: "note" }, "Not the seat\u2019s own decision: by the " + step.by + (step.reason ? " (" + step.reason + ")" : "") + ".");
  return null;
}

function inWords(step) {
  return step.raw && step.raw !== step.said && step.raw !== step.words ? fold("Its answer as it came in", () => words(step.raw)) : null;
}

function choicePart(choice, step) {
  const listed = () => make("ol", { class: "small", start: "0" },
    choice.options.map((option) => make("li", { class: option === step.said ? "taken" : null }, words(option), option === step.said ? " \u2190 chosen" : "")));
  const more = choice.more ? make("p", { class: "small soft" }, choice.more + " more options are not listed") : null;
  const of = choice.options.length + (choice.more || 0);
  return [make("p", {}, "Asked: ", words(choice.ask)), fold(of + (of === 1 ? " legal move" : " legal moves"), () => [listed(), ...(more ? [more] : [])])];
}

function searchPart(search) {
  if (!Array.isArray(search.moves)) return null;
  const percent = (share) => (100 * share).toFixed(1) + " %";
  const rows = search.moves.map((move, at) => make("tr", {}, make("td", {}, words(move)), make("td", {}, percent(search.network[at])),
    make("td", {}, percent(search.win_rate[at]) + " \u00b1 " + percent(1.96 * search.error[at]))));
  const head = make("tr", {}, ["move considered", "network", "win rate, 95 % interval"].map((name) => make("th", {}, name)));
  return make("table", { class: "small" }, make("thead", {}, head), make("tbody", {}, rows));
}

function callPart(replay, call, at) {
  const told = (tokens, what) => (tokens === null ? "unknown" : tokens.toLocaleString("en")) + what;
  const cost = [call.read === null || call.read ? told(call.read, " tokens read") + (call.cached ? " (" + told(call.cached, " cached)") : "") : "",
    call.written === null || call.written ? told(call.written, " written") : "",
    call.dollars === undefined || call.dollars === null ? "" : "$" + call.dollars.toFixed(5)].filter(Boolean).join(", ");
  const by = call.by ? "answered by the " + call.by + (call.reason ? ": " + call.reason : "") : call.model || "";
  const title = make("span", {}, "Question " + (at + 1) + ": ", plainWords(call.ask), " ", by ? badge(by, call.reason ? "warn" : "plain") : null,
    call.fault ? badge("no answer: " + call.fault, "warn") : null, " ", make("span", { class: "small soft" }, cost));
  return fold(title, () => callInside(replay, call));
}

function fromRuns(pieces, runs) { // runs: first piece, how many, first piece, how many, ...
  const parts = [];
  for (let at = 0; at < runs.length; at += 2) parts.push(...pieces.slice(runs[at], runs[at] + runs[at + 1]));
  return parts.join("");
}

function callInside(replay, call) {
  const messages = (call.prompt || []).map(([role, runs]) => fold("Prompt, " + role, () => words(fromRuns(replay.pieces, runs))));
  const parts = [["Thinking", call.thinking], ["Reply", call.reply], ["Answer of the " + (call.by || "heuristic"), call.answer]];
  const told = parts.filter(([, text]) => text).map(([title, text]) => fold(title, () => words(text)));
  const cut = call.cut ? [make("p", { class: "small soft" }, call.cut + " lines of the record did not fit into the prompt")] : [];
  return messages.length + told.length + cut.length ? [...messages, ...told, ...cut] : make("p", { class: "small soft" }, "The transcript holds no texts of it.");
}

function asJson(value) {
  return make("div", { class: "mono" }, words(JSON.stringify(value, null, 1)));
}
