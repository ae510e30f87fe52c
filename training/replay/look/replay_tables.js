// Tables of the game's own matter (votes and teams, days and nights, quiz, questions), rows shown from their step on.

const LONG_TABLE = 40; // rows from which on a table is folded at first
const BALLOTS = { 1: ["\u2713", "approves", "yes"], 0: ["\u2717", "rejects", "no"] };

function matterTable(replay, table, perspective) {
  const known = table.rows.filter((row) => knows(row.to, perspective));
  const columns = table.columns.map((column) => ({
    name: column.seat === undefined || column.seat === null ? column.title : seatHeading(replay, column.seat),
    number: column.kind === "number" }));
  const rows = known.map((row) => row.cells.map((cell, at) => matterCell(replay, cell, table.columns[at])));
  const element = grid({ label: asText(table.title, 120), columns, rows });
  const lines = [...element.querySelectorAll("tbody tr")].map((line, at) => ({ line, step: known[at].step, until: replacedAt(known, at) }));
  const ballots = table.columns.some((column) => column.kind === "ballot");
  element.classList.toggle("votes", ballots);
  const key = ballots ? "\u2713 approves the team, \u2717 rejects it; a framed mark: this player is on the team." : "";
  const empty = make("p", { class: "soft small" }, "nothing yet");
  const show = (step) => {
    let shown = 0, newest = null;
    for (const one of lines) {
      one.line.hidden = one.step > step || one.until <= step;
      if (!one.line.hidden) { shown++; if (!newest || one.step >= newest.step) newest = one; }
    }
    for (const one of lines) one.line.classList.toggle("newest", one === newest);
    empty.hidden = shown > 0;
  };
  const folded = make("details", { open: known.length <= LONG_TABLE }, make("summary", {}, plainWords(table.title)), element, empty,
    make("p", { class: "small soft" }, [table.note, key].filter(Boolean).join(" ")));
  return { element: folded, show };
}

// The step from which a later row with the same key stands in this one's place.
function replacedAt(rows, at) {
  const next = rows[at].key ? rows.slice(at + 1).find((row) => row.key === rows[at].key) : null;
  return next ? next.step : Infinity;
}

function seatHeading(replay, seat) {
  return make("span", {}, plainWords(replay.name(seat)));
}

function matterCell(replay, cell, column) {
  if (cell === null || cell === undefined) return { text: "", key: "" };
  switch (column.kind) {
    case "number": return cell;
    case "seat": return { text: cell < 0 ? "" : replay.name(cell), key: cell };
    case "seats": return { text: cell.map(replay.name).join(", "), key: cell.join(" ") };
    case "flag": return { text: cell ? make("span", { class: "yes" }, "yes") : make("span", { class: "no" }, "no"), key: Number(cell) };
    case "ballot": return ballot(cell);
    case "target": return { text: { "-1": "nobody", "-2": "\u2020" }[cell] || replay.name(cell), key: cell };
    default: return { text: String(cell) };
  }
}

function ballot([vote, onTeam]) {
  const [sign, said, kind] = BALLOTS[vote] || ["", "no vote", ""];
  const told = said + (onTeam ? ", on the team" : "");
  return { text: make("span", { class: "ballot " + kind + (onTeam ? " member" : ""), role: "img", "aria-label": told, title: told }, sign || (onTeam ? "\u00b7" : "")),
    key: vote === null || vote === undefined ? "" : vote };
}

// Who sat where, and whose the decisions were; roles as far as a perspective knows them at a step.
function playersPanel(replay) {
  const box = make("div", {});
  const element = make("section", { class: "panel", id: "players" }, make("h2", {}, "Players"), box);
  let before = "";
  const show = (step, perspective) => {
    const over = step === replay.last && Boolean(replay.header.finished);
    const roles = replay.seats.map((_, seat) => roleShown(replay, seat, step, perspective, over).role);
    const told = JSON.stringify([roles, over || perspective === EVERYTHING]);
    if (told !== before) fill(box, playersTable(replay, roles, over || perspective === EVERYTHING));
    before = told;
  };
  return { element, show };
}

function playersTable(replay, roles, over) {
  const cards = replay.seats;
  const columns = [{ name: "seat" }, { name: "role" }, { name: "side" }, { name: "player" }, { name: "model" }, { name: "decisions", number: true },
    { name: "its own", number: true }, { name: "by the heuristic", number: true }, { name: "by the table", number: true }, { name: "refused words", number: true },
    { name: "tokens in", number: true }, { name: "out", number: true }, { name: "dollars", number: true }, { name: "return", number: true }];
  const rows = cards.map((card, seat) => {
    const made = card.decisions || {};
    return [card.called ? card.called + " (" + card.agent + ")" : card.agent, roles[seat], over ? card.side || "" : "", card.player || "", card.model || "",
      made.decisions ?? null, made.own ?? null, counted(made.heuristic), counted(made.replaced), counted(made.refused),
      amount(made.prompt), amount(made.completion), amount(made.dollars), over ? card.returned ?? null : null];
  });
  const used = columns.map((_, at) => at === 0 || rows.some((row) => row[at] !== null && row[at] !== "" && row[at] !== 0));
  const only = (row) => row.filter((_, at) => used[at]);
  return grid({ caption: "Who played, and whose the decisions were", columns: only(columns), rows: rows.map(only) });
}

// Tokens or dollars: absent where nothing was asked, null where the server did not report them.
function amount(count) {
  return count === null ? "unknown" : count ?? null;
}

// A count, or counts by reason.
function counted(found) {
  if (found === undefined || found === null) return 0;
  return typeof found === "number" ? found : Object.values(found).reduce((sum, one) => sum + Number(one), 0);
}
