// How a game was: who won, who was who and who played whom, where it turned, everything that happened, the replay; the next game.
// panel.review(message): which decisions cost most
// const panel = endingPanel(section, body, next)     next(number): somebody wants the game after this one

// A wish for the next game is sent again on each new connection until that game begins: the table counts it once.

function endingPanel(section, body, next) {
  let wanted = null; // the game after which the next is wanted
  let path = "", working = null; // of the replay; what stands there until the coach's view comes
  const hide = () => { section.hidden = true; };
  const show = (over, table) => {
    const own = table.seat === null ? "" : over.seats[table.seat].told;
    fill(body, make("p", { class: "question" }, plainWords(own || over.end)), own && own !== over.end ? make("p", {}, plainWords(over.end)) : null, nextGame(over, table),
      make("div", { class: "table", tabindex: "0", role: "region", "aria-label": "who was who" }, seatsTable(over, table)),
      turned(over), make("p", {}, replayLink(over.replay, "", "The whole game, step by step (replay)")),
      fold("Everything that happened, secrets included", () => everything(over, table)),
      over.evening.length > 1 ? fold("The games so far", () => evening(over)) : null);
    path = over.replay;
    working = table.coach && table.seat !== null ? make("p", { class: "small soft", role: "status" }, "Coach: working out which of your decisions cost most") : null;
    if (working) body.append(working);
    section.hidden = false;
    if (wanted === over.number) next(wanted);
  };
  const nextGame = (over, table) => {
    if (over.number === over.games) return make("p", { class: "soft" }, "This was the last game.");
    if (table.seat === null) return make("p", { class: "soft" }, "The next game begins when a player asks for it.");
    const unsent = make("p", { class: "note", role: "status", hidden: wanted !== over.number }, "Not sent yet");
    const button = make("button", { type: "button", class: "primary", disabled: wanted === over.number, onclick: () => {
      wanted = over.number;
      button.disabled = true;
      unsent.hidden = false;
      next(wanted);
    } }, "Play again" + (over.games === null ? "" : " (game " + (over.number + 1) + " of " + over.games + ")"));
    return [button, unsent];
  };
  const review = (message) => {
    if (working) working.remove();
    body.append(costlyMoves(message.decisions, path));
  };
  return { show, hide, review };
}

// The coach's view of the game, which comes some seconds after its end.
function costlyMoves(decisions, path) {
  const items = decisions.map((one) => make("li", {}, plainWords(one.shown), " ", replayLink(path, "#step=" + Number(one.step), "See this decision")));
  const none = make("p", { class: "small" }, "The coach found no decision of yours that cost anything.");
  return make("div", { class: "coach", role: "region", "aria-label": "the coach's view of the game" }, make("p", { class: "small soft" },
    items.length ? "Coach: your decisions that cost most" : "Coach"), items.length ? make("ol", {}, items) : none);
}

// A link to a replay of this table, relative to this page, which may stand under a prefix; nothing else is a link of this page.
function replayLink(path, hash, text) {
  return path.startsWith("/replay/") ? make("a", { href: path.slice(1) + hash, target: "_blank", rel: "noopener" }, text) : text;
}

function turned(over) {
  if (over.turned === null) return null;
  return make("p", {}, make("strong", {}, "Where it turned: "), plainWords(over.turned.why), " ",
    replayLink(over.replay, "#step=" + Number(over.turned.step), "See that moment"));
}

function evening(over) {
  return make("ol", { class: "small" }, over.evening.map((game) => make("li", {}, plainWords(game.end), " ", replayLink(game.replay, "", "replay"))));
}

// Returns of 1 and -1 are games won and lost; others are points.
function seatsTable(over, table) {
  const several = over.number > 1;
  const roles = over.seats.some((seat) => seat.role || seat.was);
  const points = over.seats.some((seat) => seat.returned !== null && Math.abs(seat.returned) !== 1);
  const head = ["seat", roles && "was", "played by", points ? "return" : several ? "this game" : "result", several && (points ? "all games" : "games won")].filter(Boolean);
  const rows = over.seats.map((seat, number) => make("tr", {}, make("th", { scope: "row" }, plainWords(table.agents[number]), number === table.seat ? " (you)" : ""),
    roles ? make("td", {}, was(seat)) : null, make("td", {}, plainWords(seat.player)),
    make("td", { class: "number" }, points ? told(seat.returned) : { 1: "won", "-1": "lost" }[seat.returned] || "-"),
    several ? make("td", { class: "number" }, points ? told(seat.total) : seat.wins + " of " + over.number) : null));
  return make("table", {}, make("thead", {}, make("tr", {}, head.map((title) => make("th", { scope: "col" }, title)))), make("tbody", {}, rows));
}

function was(seat) {
  if (!seat.role) return plainWords(seat.was);
  return [plainWords(seat.role), seat.side ? [" ", badge(seat.side, seat.side)] : null].flat();
}

function told(number) {
  return number === null ? "-" : number.toLocaleString("en", { maximumFractionDigits: 2, signDisplay: "exceptZero" });
}

function everything(over, table) {
  const whole = record(over.lines.map((line, step) => ({ ...recordItem(line, table), step })));
  whole.show(over.lines.length - 1);
  return whole.element;
}
