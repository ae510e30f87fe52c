// The data of a replay page (model.py says what stands in it) and who may see what of it.
// A perspective is EVERYTHING (null), PUBLIC ("all": what everybody knows), or the number of a seat (what it knows).

const EVERYTHING = null, PUBLIC = "all";

// Whether something that is known to `to` (absent: to everybody) is shown in a perspective.
function knows(to, perspective) {
  if (to === null || to === undefined || perspective === EVERYTHING) return true;
  return perspective !== PUBLIC && to.includes(perspective);
}

// Whether what one seat alone knows (its prompts, its beliefs) is shown; null: an onlooker's, for everybody.
function holds(seat, perspective) {
  return seat === null || seat === undefined || perspective === EVERYTHING || perspective === seat;
}

function readReplay(told) {
  const seats = told.header.seats;
  const name = (seat) => (seat < 0 || seat === null || seat === undefined ? "moderator" : seats[seat].called || seats[seat].agent);
  return { ...told, seats, name, last: told.steps.length - 1,
    alive: told.alive || [], marks: told.marks || [], scene: told.scene || [], known: told.known || [],
    lines: told.lines || [], tables: told.tables || [], documents: told.documents || [], graphs: told.graphs || [],
    beliefs: told.beliefs || [], choices: told.choices || [], pieces: told.pieces || [], who: told.who || [] };
}

// The class of style.css for a side: the first of the game's sides is that of good, the second that of evil.
function sideClass(replay, side) {
  const at = (replay.header.sides || []).indexOf(side);
  return ["good", "evil"][at] || "";
}

// Of entries [step, ...] in order, the last at or before a step; null before the first.
function lastOf(entries, step) {
  let low = 0, high = entries.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if (entries[half][0] <= step) low = half + 1; else high = half;
  }
  return low ? entries[low - 1] : null;
}

// "player_0, player_3"; [] is nobody at the table.
function namesOf(replay, seats) {
  return seats.length ? seats.map(replay.name).join(", ") : "nobody at the table";
}

// #step=41&seat=3, seat=all for what everybody knows; what is not a number within its limits is left out.
function readHash(hash, last, seats) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const whole = (text, most) => (/^\d{1,9}$/.test(text || "") && Number(text) <= most ? Number(text) : null);
  const seat = given.get("seat") === PUBLIC ? PUBLIC : whole(given.get("seat"), seats - 1);
  const step = whole(given.get("step"), 999999999);
  return { step: step === null ? null : Math.min(step, last), perspective: seat };
}

function writeHash(step, perspective) {
  return "#step=" + step + (perspective === EVERYTHING ? "" : "&seat=" + perspective);
}
