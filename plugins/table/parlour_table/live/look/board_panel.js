// What lies on the table: where the game is, tracks of quests or rounds, the seats with their marks, the time that is left.
// const panel = boardPanel(section, body, chosen)     chosen(seat): a seat was pressed
// panel.begin(table), panel.show(message), panel.over(seats); panel.narrows(options): whether a seat that is pressed narrows the options

const RIM = 16; // pixels by which a card may stand out of the ring

function boardPanel(section, body, chosen) {
  let table = null, seats = null, laid = null, ticking = 0;
  const phase = make("p", { class: "phase" }), tracks = make("div", { class: "tracks" }), hint = make("p", { class: "soft small", hidden: true }, "Press a seat to see only the options that name it.");
  const begin = (message) => {
    table = message;
    laid = null;
    clearInterval(ticking);
    renamed();
    section.hidden = false;
  };
  const renamed = () => {
    seats = ring(table.agents.map((name) => ({ name })), chosen);
    seats.show(table.agents.map((_, seat) => ({ marks: own(seat) })), []);
    fill(phase);
    fill(tracks);
    fill(body, phase, tracks, seats.element, hint);
  };
  const own = (seat) => (seat === table.seat ? [{ text: "you", kind: "secret" }] : []);
  const show = (message) => {
    laid = message;
    phase.hidden = !message.phase;
    fill(phase, plainWords(message.phase));
    fill(tracks, message.tracks.map(trackShown));
    seats.show(message.seats.map((seat, number) => ({ ...seat, marks: [...own(number), ...seat.marks] })), middle(message));
    makeRoom(seats.element);
  };
  const middle = (message) => {
    clearInterval(ticking);
    const waits = message.seats.flatMap((seat, number) => (seat.acts ? [number] : []));
    if (!waits.length) return [];
    const who = waits.length === 1 ? (waits[0] === table.seat ? "you" : table.agents[waits[0]]) : waits.length === message.seats.length ? "everybody" : waits.length + " players";
    const left = message.seconds === null ? null : make("span", { class: "clock small", role: "timer", "aria-label": "time left for " + asText(who, 60) });
    if (left) ticking = countDown(left, message.seconds);
    return [make("span", { class: "soft" }, "waiting for"), make("strong", {}, plainWords(who)), left];
  };
  const over = (roles) => {
    clearInterval(ticking);
    const before = laid ? laid.seats : table.agents.map(() => ({ marks: [] }));
    const was = roles.map((seat, number) => ({ ...before[number], acts: false, role: seat.role, side: seat.side,
      marks: [...own(number), ...before[number].marks.filter((mark) => mark.kind !== "secret")] }));
    seats.show(was, []);
    makeRoom(seats.element);
  };
  const narrows = (options) => { hint.hidden = !options; };
  return { begin, renamed, show, over, narrows };
}

// Cards that would cover each other, or stand out of the ring, stand in rows from then on.
function makeRoom(ring) {
  const around = ring.getBoundingClientRect();
  const cards = [...ring.querySelectorAll(".seat")].map((card) => card.getBoundingClientRect());
  const covers = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  if (cards.some((card, number) => card.top < around.top - RIM || card.bottom > around.bottom + RIM || cards.slice(number + 1).some((other) => covers(card, other))))
    ring.classList.add("crowded");
}

function trackShown(track) {
  const places = track.places.map((place) => make("li", { class: "place " + place.kind, title: place.title },
    make("span", { class: "big" }, plainWords(place.text)), make("span", { class: "note-below" }, plainWords(place.note)),
    make("span", { class: "aloud" }, place.title)));
  return make("div", { class: "track" }, make("span", { class: "soft small" }, plainWords(track.title)), make("ol", { "aria-label": asText(track.title, 60) }, places));
}

// Shows the time that is left and returns the number of its interval.
function countDown(element, seconds) {
  const ends = performance.now() + 1000 * seconds;
  const tick = () => {
    const left = Math.max(0, (ends - performance.now()) / 1000);
    element.textContent = Math.floor(left / 60) + ":" + String(Math.floor(left % 60)).padStart(2, "0");
    element.classList.toggle("soon", left <= SOON);
  };
  tick();
  return setInterval(tick, 250);
}
