// The record of a game as a conversation, shown up to a step.
// const talk = record(items)    items: [{step, seat, name, kind, text, words, marks: [{text, kind}], below}], steps ascending
//   kind: "heading", "told" (by the moderator), "did" or "said"; `text` the line in the game's own words, `words` free speech;
//   secret: only some saw it; dropped: words that were no move; below: a function that makes what is folded below
// talk.show(step)               items up to the step, the newest marked and scrolled into view
// talk.add(item)                one more at the end

function record(items) {
  const element = make("ol", { class: "record" });
  const lines = [];
  let shown = 0;
  const add = (item) => {
    const line = recordLine(item);
    line.hidden = true;
    lines.push({ step: item.step, line });
    element.append(line);
  };
  items.forEach(add);
  const show = (step) => {
    while (shown < lines.length && lines[shown].step <= step) lines[shown++].line.hidden = false;
    while (shown > 0 && lines[shown - 1].step > step) lines[--shown].line.hidden = true;
    for (const old of element.querySelectorAll(":scope > .now")) old.classList.remove("now");
    for (let back = shown - 1; back >= 0 && lines[back].step === step; back--) lines[back].line.classList.add("now");
    if (shown) scrollWithin(element, lines[shown - 1].line);
  };
  return { element, show, add };
}

function recordLine(item) {
  const kinds = [item.kind, item.secret && "secret"].filter(Boolean).join(" ");
  const what = make("div", { class: "what" },
    item.text ? words(item.text, item.dropped ? "dropped" : "") : null,
    item.words ? [" ", words(item.words, "free")] : null,
    (item.marks || []).map((mark) => [" ", badge(mark.text, mark.kind, mark.title)]),
    item.below ? item.below() : null);
  if (item.kind === "heading") return make("li", { class: kinds }, what);
  const who = item.seat === null || item.seat === undefined ? "" : plainWords(item.name);
  return make("li", { class: kinds }, make("div", { class: "who" }, who), what);
}

// Scrolls the box around the record only, never the page.
function scrollWithin(element, line) {
  const box = element.closest(".scrolls");
  if (!box) return;
  const inside = box.getBoundingClientRect(), at = line.getBoundingClientRect();
  const below = at.bottom - inside.bottom;
  if (below > -8 || at.top < inside.top) box.scrollTop += below + 24;
}
