// What a person may do now: a question, the options as buttons, room for free words, and the clock.
// const panel = turnPanel(parts, send, read)     parts: {title, body}; send(answer): {turn, option} or {turn, words};
// read({turn, words}) asks what words would be taken as
// panel.asked(message), panel.reading(message), panel.taken(message), panel.refused(why), panel.waiting(text), panel.filter(text)
// Words can be said once the table has shown what it takes them as.
// Words that were typed stay until the table has taken them, whatever happens to the connection.

const MOST_WORDS = 4000; // characters of one utterance that a table takes
const MANY = 10; // options from which on they can be searched
const PAUSE = 300; // milliseconds without a key, after which words are sent to be read
const SOON = 10; // seconds left that are shown as few

function turnPanel(parts, send, read) {
  let turn = null, draft = "", search = null, buttons = [], ticking = 0, sent = false;
  let understood = null, typing = 0; // the words that the table has read last; the timer of the pause
  const waiting = (text) => {
    turn = null;
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
    sent = false;
    understood = null;
    stopClock();
    parts.title.textContent = "Your move";
    document.title = "Your move - parlour";
    parts.page.classList.add("your-turn");
    fill(parts.body, clock(message.seconds), message.refused.map((why) => make("p", { class: "note" }, plainWords(why))),
      make("p", { class: "question" }, plainWords(message.ask)), hintPanel(message.hint), searchBox(message), choices(message), freeWords(message),
      make("p", { class: "note", id: "turn-refused", role: "alert", hidden: true }));
  };
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
      button.disabled = sent || long || !draft.trim() || changed || understood.why !== "";
      clearTimeout(typing);
      if (changed && !sent && !long && draft.trim()) typing = setTimeout(asks, PAUSE);
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
    if (sent) return;
    if (!send(answer)) {
      refused("There is no connection to the table; your move was not sent and is still here.");
      return;
    }
    setSent(true);
  };
  const setSent = (value) => {
    sent = value;
    for (const button of parts.body.querySelectorAll("button")) button.disabled = value;
    const area = byId("words");
    if (!value && area) area.dispatchEvent(new Event("input"));
  };
  const taken = (message) => {
    if (message.by === "you") draft = "";
    waiting(message.by === "you" ? "Your move was taken; waiting for the others" : "The table made your move: " + message.why);
  };
  const refused = (why) => {
    setSent(false);
    const box = byId("turn-refused");
    if (!box) return false;
    box.hidden = false;
    fill(box, plainWords(why));
    return true;
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
  return { asked, reading, taken, refused, waiting, filter };
}

// What the coach says at a turn: the belief about each seat, and the move of the strongest player.
function hintPanel(hint) {
  if (!hint) return null;
  const seats = hint.seats.map((one) => make("li", {}, make("strong", {}, plainWords(one.seat)), " evil with " + Number(one.percent) + " %",
    one.because ? make("span", { class: "soft" }, plainWords(" - " + one.because)) : null));
  const best = hint.best ? make("p", { class: "best" }, plainWords(hint.by), " would choose: ", make("strong", {}, plainWords(hint.best)),
    hint.why ? plainWords(" Reason: " + hint.why + ".") : null) : null;
  return make("div", { class: "coach", role: "region", "aria-label": "hints of the coach" }, make("p", { class: "small soft" }, "Coach"), best,
    hint.others.length ? make("p", { class: "small" }, plainWords("Also: " + hint.others.join(", "))) : null,
    hint.note ? make("p", { class: "small" }, plainWords(hint.note)) : null,
    seats.length ? fold("What the record says of each player", () => make("ul", { class: "small" }, seats)) : null);
}
