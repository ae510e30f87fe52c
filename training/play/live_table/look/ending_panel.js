// How a game was: who won, who was who and who played whom, everything that happened, the replay, the next game.
// const panel = endingPanel(section, body, next)     next(number): somebody wants the game after this one

function endingPanel(section, body, next) {
  const hide = () => { section.hidden = true; };
  const show = (over, table) => {
    const replay = over.replay.startsWith("/replay/") // nothing else is a link of this page
      ? make("a", { href: over.replay, target: "_blank", rel: "noopener" }, "The whole game, step by step (replay)") : "";
    fill(body, make("p", { class: "question" }, plainWords(over.end)), make("div", { class: "table", tabindex: "0", role: "region", "aria-label": "who was who" }, seatsTable(over, table)),
      make("p", {}, replay), fold("Everything that happened, secrets included", () => everything(over, table)), nextGame(over, table));
    section.hidden = false;
  };
  const nextGame = (over, table) => {
    if (over.number >= over.games) return make("p", { class: "soft" }, "This was the last game.");
    if (table.seat === null) return make("p", { class: "soft" }, "The next game begins soon.");
    return make("button", { type: "button", class: "primary", onclick: () => next(over.number) },
      "Next game (" + (over.number + 1) + " of " + over.games + ")");
  };
  return { show, hide };
}

function seatsTable(over, table) {
  const several = over.number > 1;
  const roles = over.seats.some((seat) => seat.role || seat.was);
  const head = ["seat", roles && "was", "played by", "return", several && "all games"].filter(Boolean);
  const rows = over.seats.map((seat, number) => make("tr", {}, make("th", { scope: "row" }, plainWords(table.agents[number])),
    roles ? make("td", {}, was(seat)) : null, make("td", {}, plainWords(seat.player)),
    make("td", { class: "number" }, told(seat.returned)), several ? make("td", { class: "number" }, told(seat.total)) : null));
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
