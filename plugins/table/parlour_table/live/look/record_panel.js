// What has happened, as it grows; and a mark where somebody who was away, or whose page was loaded anew, left off.
// const panel = recordPanel(box)      panel.begin(table, key): a game begins; panel.told(message): lines of the record

function recordPanel(box) {
  let table = null, talk = null, count = 0, seenKey = "", marked = null;
  const seen = () => {
    const stored = Number.parseInt(remembered(seenKey), 10);
    return Number.isNaN(stored) ? null : stored;
  };
  const begin = (message, key) => {
    table = message;
    seenKey = "parlour-seen-" + key.slice(0, 8) + "-" + message.number;
    box.lang = message.language;
    anew();
  };
  const anew = () => {
    talk = record([]);
    count = 0;
    marked = null;
    fill(box, talk.element);
  };
  const told = (message) => {
    if (message.from === 0) anew();
    for (const line of message.lines) talk.add({ ...recordItem(line, table), step: count++ });
    talk.show(count - 1);
    if (message.from === 0) markAway();
    look();
  };
  const markAway = () => {
    const left = seen();
    if (left === null || left >= count) return;
    const number = count - left;
    if (marked) marked.remove();
    marked = make("li", { class: "away" }, "While you were away: " + number + (number === 1 ? " line" : " lines"));
    talk.element.children[left].before(marked);
    scrollWithin(talk.element, marked);
  };
  const look = () => { if (!document.hidden && count) remember(seenKey, String(count)); };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !talk) return;
    markAway();
    look();
  });
  return { begin, told };
}

// An item of record.js for a line of the table; the speaker's name stands in a column of its own.
function recordItem(line, table) {
  const text = line.text.replace(/\n$/, "");
  if (line.seat < 0) return { seat: null, kind: "told", secret: line.secret, text: text.replace(/^Moderator: /, "") };
  const name = table.agents[line.seat];
  const rest = text.startsWith(name + " ") ? text.slice(name.length + 1) : text;
  return { seat: line.seat, name, kind: line.kind, secret: line.secret, text: rest };
}

// What this browser keeps of its own; some browsers keep nothing.
function remembered(name) {
  try { return window.localStorage.getItem(name) || ""; } catch { return ""; }
}

function remember(name, value) {
  try { window.localStorage.setItem(name, value); } catch { /* then nothing is marked after a reload */ }
}
