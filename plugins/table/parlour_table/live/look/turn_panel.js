// What a person may do now: a question, the options as buttons, room for free words, and the clock.
// const panel = turnPanel(parts, send, read)     parts: {title, body}; send(answer): {turn, option} or {turn, words};
// read({turn, words}) asks what words would be taken as
// panel.asked(message), panel.reading(message), panel.waiting(text), panel.filter(text); panel.searches(): whether there is anything to filter
// panel.laid(phase): the board has changed
// panel.taken(message), panel.refused(message): return what is to be said above all panels; empty: nothing
// panel.resend(): sends the move again that the table has not answered; panel.forget(): whether there was one, which is given up
// A move that was pressed is kept until the table has answered it, and sent again on each new connection: the table counts it once.
// Words can be said once the table has shown what it takes them as.
// Words that were typed stay until the table has taken them, whatever happens to the connection.

const MOST_WORDS = 4000; // characters of one utterance that a table takes
const MANY = 10; // options from which on they can be searched
const PAUSE = 300; // milliseconds without a key, after which words are sent to be read
const NOT_TAKEN = "Your move was not taken: ";
const SOON = 10; // seconds left that are shown as few

function turnPanel(parts, send, read) {
  let turn = null, draft = "", search = null, buttons = [], ticking = 0;
  let phase = ""; // of the board
  let took = false; // whether the page says that a move was taken
  let unsent = null; // the move that was pressed and that the table has not answered
  let understood = null, typing = 0; // the words that the table has read last; the timer of the pause
  const waiting = (text) => {
    turn = search = null;
    took = false;
    clearTimeout(typing);
    stopClock();
    parts.title.textContent = text;
    fill(parts.body);
    document.title = "parlour: a table";
    parts.page.classList.remove("your-turn");
  };
  const asked = (message) => {
    const same = turn !== null && turn.turn === message.turn;
    if (!same && turn === null && !draft) draft = "";
    turn = message;
    understood = null;
    stopClock();
    parts.title.textContent = "Your move";
    document.title = "Your move - parlour";
    parts.page.classList.add("your-turn");
    fill(parts.body, clock(message.seconds), make("p", { class: "note", id: "turn-unsent", role: "status", hidden: true }), message.refused.map((why) => make("p", { class: "note" }, plainWords(why))),
      make("p", { class: "question" }, plainWords([message.ask, message.about].filter(Boolean).join(" "))), hintPanel(message.hint), searchBox(message), choices(message), freeWords(message),
      make("p", { class: "note", id: "turn-refused", role: "alert", hidden: true }));
    showUnsent();
  };
  const isUnsent = () => turn !== null && unsent !== null && unsent.turn === turn.turn;
  const searchBox = (message) => {
    search = null;
    if (message.options.length <= MANY) return null;
    search = make("input", { type: "search", placeholder: "search the options", "aria-label": "search the options" });
    search.addEventListener("input", narrow);
    return search;
  };
  const narrow = () => {
    const wanted = (search ? search.value : "").toLowerCase().split(/\s+/).filter(Boolean);
    buttons.forEach((button, number) => {
      const text = turn.options[number].toLowerCase();
      button.hidden = !wanted.every((word) => text.includes(word));
    });
  };
  const choices = (message) => {
    buttons = message.options.map((option, number) =>
      make("button", { type: "button", onclick: () => give({ turn: message.turn, option: number }) }, plainWords(option)));
    return make("div", { class: "choices", role: "group", "aria-label": "what you may do" }, buttons);
  };
  const freeWords = (message) => {
    if (!message.words) return null;
    const count = make("span", { class: "soft small grow", id: "words-count" });
    const button = make("button", { type: "submit", class: "primary" }, "Say it");
    const area = make("textarea", { id: "words", "aria-describedby": "words-count words-reading" });
    area.value = draft;
    const asks = () => {
      if (!read({ turn: message.turn, words: draft })) typing = setTimeout(asks, PAUSE);
    };
    const counted = () => {
      const changed = understood === null || understood.words !== area.value;
      draft = area.value;
      const long = draft.length > MOST_WORDS;
      count.textContent = draft.length.toLocaleString("en") + " of " + MOST_WORDS.toLocaleString("en") + " characters" + (long ? ": too many" : "");
      button.disabled = isUnsent() || long || !draft.trim() || changed || understood.why !== "";
      clearTimeout(typing);
      if (changed && !isUnsent() && !long && draft.trim()) typing = setTimeout(asks, PAUSE);
      showReading();
    };
    area.addEventListener("input", counted);
    counted();
    const submitted = (event) => {
      event.preventDefault();
      if (!button.disabled) give({ turn: message.turn, words: area.value });
    };
    area.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submitted(event); });
    return make("form", { onsubmit: submitted }, make("label", { for: "words" }, "In your own words"), area,
      make("p", { class: "small", id: "words-reading", role: "status" }), make("div", { class: "row" }, count, button));
  };
  const showReading = () => {
    const box = byId("words-reading");
    if (!box) return;
    const current = understood !== null && draft.trim() && understood.words === draft;
    const text = !current ? "" : understood.why || (understood.claim ? "Heard as: " + understood.claim : "Heard as: no claim. Your words are said as they are.");
    fill(box, text ? plainWords(text) : "");
  };
  const reading = (message) => {
    if (turn === null || turn.turn !== message.turn) return;
    understood = message;
    const area = byId("words");
    if (area && area.value === message.words) area.dispatchEvent(new Event("input"));
  };
  const give = (answer) => {
    if (isUnsent()) return;
    unsent = answer;
    send(answer);
    showUnsent();
  };
  const showUnsent = () => {
    const waits = isUnsent(), box = byId("turn-unsent"), area = byId("words");
    for (const button of parts.body.querySelectorAll("button")) button.disabled = waits;
    if (area) area.dispatchEvent(new Event("input"));
    if (!box) return;
    box.hidden = !waits;
    fill(box, waits ? plainWords("Not sent yet: " + (unsent.words ?? turn.options[unsent.option])) : "");
  };
  const resend = () => { if (unsent !== null) send(unsent); };
  const forget = () => {
    const forgotten = unsent !== null;
    unsent = null;
    return forgotten;
  };
  const taken = (message) => {
    const own = unsent !== null && unsent.turn === message.turn, mine = message.by === "you";
    const heard = own && mine && unsent.words === draft, late = own && !mine ? NOT_TAKEN + message.why : "";
    if (own) unsent = null;
    if (turn === null || turn.turn === message.turn) {
      if (mine) draft = "";
      waiting(mine ? "Your move was taken; waiting for the others" : "The table made your move: " + message.why);
      took = mine;
    } else { // of an earlier turn: the connection was lost meanwhile
      if (heard && byId("words")) byId("words").value = "";
      showUnsent();
    }
    return late;
  };
  const laid = (now) => { // the game has moved on from a move that was taken
    if (took && now !== phase) waiting("Waiting for your turn");
    phase = now;
  };
  const searches = () => search !== null;
  const refused = (message) => {
    const own = unsent !== null && unsent.turn === message.turn;
    const late = own && !isUnsent();
    if (own) unsent = null;
    const box = byId("turn-refused");
    if (late || !box) return late ? NOT_TAKEN + message.why : message.why;
    showUnsent();
    box.hidden = false;
    fill(box, plainWords(message.why));
    return "";
  };
  const clock = (seconds) => {
    if (seconds === null) return null;
    const element = make("div", { class: "clock", role: "timer", "aria-label": "time left" });
    ticking = countDown(element, seconds);
    return element;
  };
  const stopClock = () => { clearInterval(ticking); };
  const filter = (text) => {
    if (!search) return;
    search.value = search.value === text ? "" : text;
    narrow();
    search.focus();
  };
  return { asked, reading, taken, refused, resend, forget, waiting, filter, laid, searches };
}

// What the coach says at a turn: the belief about each seat, and the move of the strongest player.
function hintPanel(hint) {
  if (!hint) return null;
  const seats = hint.seats.map((one) => make("li", {}, make("strong", {}, plainWords(one.seat)), (hint.looks ? " looks evil" : " evil") + " with " + Number(one.percent) + " %",
    one.because ? make("span", { class: "soft" }, plainWords(" - " + one.because)) : null));
  const best = hint.best ? make("p", { class: "best" }, plainWords(hint.by), " would choose: ", make("strong", {}, plainWords(hint.best)),
    hint.why ? plainWords(" Reason: " + hint.why + ".") : null) : null;
  return make("div", { class: "coach", role: "region", "aria-label": "hints of the coach" }, make("p", { class: "small soft" }, "Coach"), best,
    hint.others.length ? make("p", { class: "small" }, plainWords("Also: " + hint.others.join(", "))) : null,
    hint.note ? make("p", { class: "small" }, plainWords(hint.note)) : null,
    seats.length ? fold(hint.looks ? "How each player looks to an onlooker" : "What the record says of each player", () => make("ul", { class: "small" }, seats)) : null);
}
