// The record of a game as a conversation, shown up to a step.
// const talk = record(items)    items: [{step, seat, name, kind, text, words, marks: [{text, kind}], below}], steps ascending
//   kind: "heading", "told" (by the moderator), "did" or "said"; `text` the line in the game's own words, `words` free speech;
//   secret: only some saw it; dropped: words that were no move; below: a function that makes what is folded below
// talk.show(step)               items up to the step, the newest marked and scrolled into view
// talk.add(item)                one more at the end, which is seen from the next `show` on

function record(items) {
  const element = make("ol", { class: "record" });
  const all = [...items], lines = []; // a line is made when it is shown first: a page of a thousand opens at once
  let shown = 0, marked = [];
  const show = (step) => {
    const fresh = document.createDocumentFragment();
    for (; shown < all.length && all[shown].step <= step; shown++) {
      if (shown < lines.length) lines[shown].hidden = false;
      else fresh.append(lines[shown] = recordLine(all[shown]));
    }
    element.append(fresh);
    while (shown > 0 && all[shown - 1].step > step) lines[--shown].hidden = true;
    marked.forEach((line) => line.classList.remove("now"));
    marked = [];
    for (let back = shown - 1; back >= 0 && all[back].step === step; back--) marked.push(lines[back]);
    marked.forEach((line) => line.classList.add("now"));
    if (shown) scrollWithin(element, lines[shown - 1]);
  };
  return { element, show, add: (item) => all.push(item) };
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
