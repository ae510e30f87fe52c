// A table as seats in a ring; seat 0 sits at the top, the others follow clockwise. Every seat is a button.
// const table = ring(seats, chosen)          seats: [{name, player}], player: who plays it, or none; chosen(seat) when one is pressed
// table.show([{role, side, marks: [{text, kind, title}], acts, away, chosen}], middle)   one for each seat; middle: elements
// side is a class of style.css: "good", "evil" or none; away: dead or gone.

function ring(seats, chosen) {
  const felt = make("div", { class: "felt" });
  const places = seats.map((seat, number) => place(seat, number, seats.length, chosen));
  const element = make("div", { class: "ring", role: "group", "aria-label": "the table" }, felt, places.map((one) => one.button));
  const show = (states, middle) => {
    states.forEach((state, number) => seatShown(places[number], state));
    fill(felt, middle);
  };
  return { element, show };
}

function place(seat, number, of, chosen) {
  const parts = {
    role: make("span", { class: "role" }),
    marks: make("span", { class: "marks" }),
  };
  const who = make("span", { class: "who" }, plainWords(seat.name));
  const button = make("button", { type: "button", class: "seat", "aria-pressed": "false", onclick: () => chosen(number) },
    who, seat.player ? make("span", { class: "player", title: seat.player }, plainWords(seat.player)) : null, parts.role, parts.marks);
  const angle = (number / of) * 2 * Math.PI;
  button.style.left = 50 + 38 * Math.sin(angle) + "%";
  button.style.top = 50 - 40 * Math.cos(angle) + "%";
  return { button, ...parts, last: "" };
}

function seatShown(place, state) {
  const told = JSON.stringify(state);
  if (told === place.last) return;
  place.last = told;
  place.button.className = ["seat", state.side, state.acts && "acts", state.away && "away"].filter(Boolean).join(" ");
  place.button.setAttribute("aria-pressed", String(Boolean(state.chosen)));
  fill(place.role, state.role ? plainWords(state.role) : null);
  fill(place.marks, (state.marks || []).map((mark) => badge(mark.text, mark.kind, mark.title)));
}
