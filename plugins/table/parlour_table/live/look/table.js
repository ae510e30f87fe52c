// The page of a live table. It shows what the server sends, which is the seat's View and nothing else; see messages.py.

const key = location.hash.slice(1);
const page = document.querySelector(".live");
const happened = recordPanel(byId("happened-body"));
const turn = turnPanel({ title: byId("turn-title"), body: byId("turn-body"), page }, (answer) => line && line.send({ type: "move", ...answer }),
  (words) => line && line.send({ type: "reading", ...words }));
const ended = endingPanel(byId("ending"), byId("ending-body"), (number) => line && line.send({ type: "next", game: number }));
const before = waitingPanel(byId("waiting"), byId("waiting-title"), byId("waiting-body"));
const laid = boardPanel(byId("seats"), byId("seats-body"), (seat) => turn.filter(table.agents[seat]));
let table = null, line = null;

const UNKNOWN = "The record shows whether your last move was taken.";
const LOOKS_EVERY = 1000; // milliseconds

const HANDLERS = {
  waiting(message) {
    byId("title").textContent = asText(message.title);
    byId("where").textContent = message.name ? asText("you are " + message.name) : "you are watching";
    byId("turn").hidden = true;
    before.show(message);
  },
  table(message) {
    const known = table !== null && table.session === message.session;
    table = message;
    byId("title").textContent = message.title;
    showPlace();
    notice("");
    before.hide();
    for (const panel of ["turn", "happened", "card"]) byId(panel).hidden = false;
    happened.begin(message, key);
    laid.begin(message);
    ended.hide();
    turn.waiting(message.seat === null ? "You watch: nobody sees that you do" : "Waiting for your turn");
    byId("card-title").textContent = message.seat === null ? "The rules" : "Your card";
    byId("card-hide").hidden = message.seat === null;
    if (known) turn.resend();
    else if (turn.forget()) notice("The table was opened again. " + UNKNOWN);
  },
  who(message) {
    if (message.names.length) {
      table.agents = message.names;
      laid.renamed();
      showPlace();
    }
    showCard(message);
  },
  board(message) {
    laid.show(message);
    turn.laid(message.phase);
  },
  told(message) { happened.told(message); },
  asked(message) { turn.asked(message); },
  reading(message) { turn.reading(message); },
  taken(message) { notice(turn.taken(message)); },
  refused(message) { notice(turn.refused(message)); },
  over(message) {
    turn.waiting("The game is over");
    byId("turn").hidden = true;
    ended.show(message, table);
    laid.over(message.seats);
  },
  review(message) { ended.review(message); },
  gone(message) {
    notice(message.why + (turn.forget() ? ". " + UNKNOWN : ""));
    before.hide();
    byId("turn").hidden = false;
    turn.waiting("Not at the table");
  },
};

function hear(message) {
  HANDLERS[message.type](message);
  laid.narrows(turn.searches());
}

function showPlace() {
  const place = table.seat === null ? "you are watching" : "you are " + table.agents[table.seat];
  const counted = table.number > 1 || table.games !== 1 ? ", game " + table.number : "";
  byId("where").textContent = asText(place + counted + (table.games > 1 ? " of " + table.games : ""));
}

function showCard(message) {
  const told = message.names.length ? message.own.replace(/ ?[(（]player_\d+[)）]/g, "") : message.own; // characters have names
  const [first, ...rest] = told.split("\n").filter(Boolean);
  const own = make("div", { class: "own", tabindex: "0", role: "region", "aria-label": "what you know from outside the talk" },
    first ? make("p", { class: "first" }, plainWords(first)) : null, rest.map((text) => make("p", { class: "small" }, plainWords(text))));
  const rules = message.rules ? fold("The rules of this table", () =>
    make("div", { class: "rules", tabindex: "0", role: "region", "aria-label": "the rules in full" }, plainWords(message.rules))) : null;
  if (table.seat === null && rules) rules.open = true;
  own.lang = table.language;
  fill(byId("card-body"), first ? own : null, rules);
}

byId("card-hide").addEventListener("click", (event) => {
  const hidden = event.target.getAttribute("aria-pressed") !== "true";
  event.target.setAttribute("aria-pressed", String(hidden));
  event.target.textContent = hidden ? "Show" : "Hide";
  byId("card-body").hidden = hidden;
});

function notice(text) {
  const box = byId("notice");
  box.hidden = !text;
  fill(box, text ? plainWords(text) : "");
}

function state(kind, text) {
  const box = byId("state");
  if (box.textContent === text) return;
  box.className = "badge " + (kind === "on" ? "plain" : "warn");
  box.textContent = text;
}

window.addEventListener("hashchange", () => location.reload());
if (key) {
  turn.waiting("Waiting for the others to sit down");
  line = connection(key, { message: hear, state });
  setInterval(line.look, LOOKS_EVERY);
  for (const event of ["online", "pageshow"]) window.addEventListener(event, line.wake);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) line.wake(); });
} else {
  turn.waiting("Not at the table");
  notice("this address has no key behind its #; accepted: one of the links that were printed when the table started; ask whoever opened the table");
}
