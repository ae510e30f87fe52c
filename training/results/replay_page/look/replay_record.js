// The record of a replay: the lines that a perspective knows, words that were refused, and whose moves were replaced.

function recordItems(replay, perspective, href) {
  const items = [];
  let at = 0;
  replay.steps.forEach((step, number) => {
    const own = knows(step.whom, perspective);
    let told = false;
    for (; at < replay.lines.length && replay.lines[at].step <= number; at++) {
      const line = replay.lines[at];
      if (!knows(line.to, perspective)) continue;
      const mover = line.seat === step.seat && !told;
      items.push(lineItem(replay, line, mover && own ? marksOfStep(replay, step, perspective) : [], perspective, href));
      told = told || mover;
    }
    if (step.fault && own) items.push(refusedItem(replay, step, number, href));
    if (step.kind === "end" && replay.header.ended)
      items.push({ step: number, seat: null, kind: "heading ending", text: replay.header.ended, below: () => stepLink(number, href) });
  });
  return items;
}

function lineItem(replay, line, marks, perspective, href) {
  const name = line.seat < 0 ? "" : replay.name(line.seat);
  const names = line.seat < 0 ? ["Moderator"] : [name, replay.seats[line.seat].agent];
  const text = withoutName(line.text, names);
  const kind = line.kind === "heading" ? "heading" : line.seat < 0 ? "told" : line.words || /["\u201c]/.test(line.text) ? "said" : "did";
  const secret = line.to !== null && line.to !== undefined;
  const others = secret && line.to.some((seat) => seat !== line.seat);
  const seen = secret ? [{ text: others ? "known to " + namesOf(replay, line.to) : "secret", kind: "secret", title: "known to " + namesOf(replay, line.to) }] : [];
  return { step: line.step, seat: line.seat < 0 ? null : line.seat, name, kind, text, secret, marks: [...marks, ...seen],
    below: () => stepLink(line.step, href) };
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

function marksOfStep(replay, step, perspective) {
  const marks = [];
  if (step.by) marks.push({ text: (step.by === "table" ? "put in by the table: " : "answered by the " + step.by + ": ") + (step.reason || ""), kind: "warn",
    title: "this move is not the seat's own decision" });
  const asked = holds(step.seat, perspective) && step.asks ? step.asks.length : 0;
  if (asked) marks.push({ text: asked === 1 ? "1 question asked" : asked + " questions asked", kind: "plain" });
  return marks;
}

// The number of the step, which leads to it.
function stepLink(number, href) {
  return make("a", { class: "at small", href: href(number), "aria-label": "go to step " + number }, String(number));
}
