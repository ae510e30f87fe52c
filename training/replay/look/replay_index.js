// The index of a folder of games: a table that sorts, with filters by game, winner, player and words.

function replayIndex(told) {
  const games = told.games;
  const count = make("p", { class: "small soft", role: "status" });
  const filters = [indexChoice("game", games, (one) => [one.title || one.game]), indexChoice("winner", games, (one) => [one.winner || "not finished"]),
    indexChoice("player", games, (one) => one.players || [])];
  const search = make("input", { type: "search", id: "find", "aria-label": "find words", placeholder: "find words" });
  const table = indexTable(games);
  const rows = [...table.querySelectorAll("tbody tr")];
  const refresh = () => {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, at) => {
      row.hidden = !(filters.every((one) => one.fits(games[at])) && row.textContent.toLowerCase().includes(wanted));
      if (!row.hidden) shown++;
    });
    fill(count, shown + " of " + games.length + (games.length === 1 ? " game" : " games"));
  };
  filters.forEach((one) => one.element.addEventListener("change", refresh));
  search.addEventListener("input", refresh);
  document.body.prepend(make("main", { class: "page" }, make("h1", {}, "Recorded games"),
    make("div", { class: "row filters" }, filters.filter((one) => one.many).map((one) => one.element), search), count,
    make("section", { class: "panel" }, table)));
  refresh();
}

// A filter by a value; valuesOf gives those of a game.
function indexChoice(name, games, valuesOf) {
  const values = [...new Set(games.flatMap(valuesOf).filter(Boolean))].sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  const picker = make("select", { "aria-label": name }, make("option", { value: "" }, "every " + name),
    values.map((value, at) => make("option", { value: String(at) }, asText(value, 60))));
  const fits = (game) => picker.value === "" || valuesOf(game).includes(values[Number(picker.value)]);
  return { element: picker, fits, many: values.length > 1 };
}

function indexTable(games) {
  const columns = [{ name: "file" }, { name: "game" }, { name: "seed", number: true }, { name: "seats", number: true }, { name: "players" }, { name: "winner" },
    { name: "how it ended" }, { name: "steps", number: true }, { name: "own decisions", number: true, title: "share of the decisions that were the players\u2019 own" }];
  const rows = games.map((one) => [
    { text: indexLink(one), key: one.file }, one.title || one.game, one.seed ?? null, one.seats ?? null, counts(one.players || []), one.winner || "",
    one.ended || "", one.steps ?? null,
    one.decisions_own === undefined || one.decisions_own === null ? null : { text: (100 * one.decisions_own).toFixed(1) + " %", key: one.decisions_own }]);
  return grid({ caption: "Games of this folder", columns, rows });
}

// A file beside the index, whatever its name is.
function indexLink(one) {
  if (!one.page) return plainWords(one.file);
  return make("a", { href: "./" + one.page.split("/").map((part) => encodeURIComponent(part.toWellFormed())).join("/") }, plainWords(one.file));
}

// "heuristic x 5, gratr"
function counts(players) {
  const found = new Map();
  players.filter(Boolean).forEach((name) => found.set(name, (found.get(name) || 0) + 1));
  return [...found].map(([name, times]) => (times > 1 ? name + " \u00d7 " + times : name)).join(", ");
}

replayIndex(pageData());
