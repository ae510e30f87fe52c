// The record of a replay: the lines that a perspective knows, words that were refused, and whose moves were replaced.

function recordItems(replay, perspective, href) {
  const items = [];
  let at = 0;
  replay.steps.forEach((step, number) => {
    const own = knows(step.whom, perspective);
    const asks = own && step.seat >= 0 && holds(step.seat, perspective) ? step.asks || [] : [];
    const from = at;
    while (at < replay.lines.length && replay.lines[at].step <= number) at++;
    const lines = replay.lines.slice(from, at).filter((line) => knows(line.to, perspective));
    const moved = lines.find((line) => line.seat === step.seat);
    for (const line of lines) items.push(lineItem(replay, line, line === moved && own ? marksOfStep(step) : [], line === moved ? asks : [], href));
    if (step.fault && own) items.push(refusedItem(replay, step, number, href));
    if (step.kind === "end" && replay.header.ended)
      items.push({ step: number, seat: null, kind: "heading ending", text: replay.header.ended, below: () => stepLink(number, href) });
  });
  return items;
}

// asks: the questions to a model that led to the line; they unfold below it.
function lineItem(replay, line, marks, asks, href) {
  const name = line.seat < 0 ? "" : replay.name(line.seat);
  const names = line.seat < 0 ? ["Moderator"] : [name, replay.seats[line.seat].agent];
  const text = withoutName(line.text, names);
  const kind = line.kind === "heading" ? "heading" : line.seat < 0 ? "told" : line.words || /["\u201c]/.test(line.text) ? "said" : "did";
  const secret = line.to !== null && line.to !== undefined;
  const others = secret && line.to.some((seat) => seat !== line.seat);
  const seen = secret ? [{ text: others ? "known to " + namesOf(replay, line.to) : "secret", kind: "secret", title: "known to " + namesOf(replay, line.to) }] : [];
  return { step: line.step, seat: line.seat < 0 ? null : line.seat, name, kind, text, secret, marks: [...marks, ...seen],
    below: () => [calls(replay, asks), stepLink(line.step, href)] };
}

function calls(replay, asks) {
  return asks.length ? make("div", { class: "small" }, asks.map((call, at) => callPart(replay, call, at))) : null;
}

// A line without what stands beside it already: who it is of, and that it is secret.
function withoutName(text, names) {
  const before = names.flatMap((name) => ["(secretly) " + name + ": ", "Privately, " + name + ": ", name + ": ", name + " "]);
  const found = before.find((one) => text.startsWith(one) && text.length > one.length);
  return found ? text.slice(found.length) : text;
}

function refusedItem(replay, step, number, href) {
  return { step: number, seat: step.seat, name: replay.name(step.seat), kind: "said", text: step.raw || step.words || step.said || "\u2026",
    dropped: true, marks: [{ text: "refused: " + step.fault, kind: "warn", title: "these words were no move; the table did not hear them" }],
    below: () => stepLink(number, href) };
}

function marksOfStep(step) {
  const marks = [];
  if (step.by) marks.push({ text: (step.by === "table" ? "put in by the table: " : "answered by the " + step.by + ": ") + (step.reason || ""), kind: "warn",
    title: "this move is not the seat's own decision" });
  return marks;
}

// The number of the step, which leads to it.
function stepLink(number, href) {
  return make("a", { class: "at small", href: href(number), "aria-label": "go to step " + number }, String(number));
}
