// The seats as a perspective knows them at a step: roles and sides, who is out of the game, marks of the game and of the step.

function seatStates(replay, step, perspective) {
  const living = lastOf(replay.alive, step);
  const marks = marksAt(replay, step, perspective);
  const over = step === replay.last && replay.header.finished;
  const now = replay.steps[step];
  const secret = !knows(now.whom, perspective);
  return replay.seats.map((card, seat) => {
    const told = roleShown(replay, seat, step, perspective, over);
    const own = [...marks[seat]];
    if (!secret && now.fault && now.seat === seat) own.push({ text: "words refused", kind: "warn", title: now.fault });
    if (!secret && now.by && now.seat === seat) own.push({ text: "by the " + now.by, kind: "warn", title: now.reason });
    if (over && card.won !== undefined && card.won !== null) own.push({ text: card.won ? "won" : "lost", kind: "plain" });
    return { role: told.role, side: told.side, marks: own, acts: now.seat === seat && !secret,
      away: Boolean(living && !living[1][seat]), chosen: perspective === seat };
  });
}

function roleShown(replay, seat, step, perspective, over) {
  const card = replay.seats[seat];
  const whole = { role: card.role || "", side: sideClass(replay, card.side) };
  if (perspective === EVERYTHING || perspective === seat || over) return whole;
  const found = replay.known.filter(([from, who, of]) => from <= step && of === seat && (who === perspective || who === -1));
  if (!found.length) return { role: "", side: "" };
  const [, , , word, side] = found[found.length - 1];
  return { role: word, side: sideClass(replay, side) };
}

// Of each seat the badges it carries: the last [step, label, seats, to] of each label.
function marksAt(replay, step, perspective) {
  const held = new Map();
  if (!replay.marks.length) return marksOfTables(replay, step, perspective);
  for (const [from, label, seats, to] of replay.marks) {
    if (from > step) break;
    if (knows(to, perspective)) held.set(label, seats);
  }
  const carried = replay.seats.map(() => []);
  for (const [label, seats] of held) for (const seat of seats) carried[seat].push({ text: label, kind: "plain" });
  return carried;
}

// Without marks of the game: from the newest rows of its tables, who leads, who is on the team, who votes for what.
function marksOfTables(replay, step, perspective) {
  const carried = replay.seats.map(() => []);
  for (const table of replay.tables) {
    const rows = table.rows.filter((row) => row.step <= step && knows(row.to, perspective));
    const newest = rows[rows.length - 1];
    if (newest && table.columns.some((column) => column.kind === "ballot" || column.kind === "target"))
      table.columns.forEach((column, at) => markOfCell(replay, carried, column, newest.cells[at]));
  }
  return carried;
}

function markOfCell(replay, carried, column, cell) {
  if (cell === null || cell === undefined) return;
  if (column.kind === "seat" && cell >= 0) carried[cell].push({ text: column.title, kind: "plain" });
  else if (column.kind === "ballot" && cell[1]) carried[column.seat].push({ text: "on the team", kind: "plain" });
  if (column.kind === "ballot" && BALLOTS[cell[0]]) carried[column.seat].push({ text: BALLOTS[cell[0]][0], kind: cell[0] ? "good" : "evil", title: BALLOTS[cell[0]][1] });
  if (column.kind === "target" && cell >= 0) carried[column.seat].push({ text: "\u2192 " + replay.name(cell), kind: "plain", title: "votes for " + replay.name(cell) });
}

// What the moderator told everybody last, if the game has no scenes of its own.
function lastTold(replay, step) {
  let told = "";
  for (const line of replay.lines) {
    if (line.step > step) break;
    if (line.seat < 0 && (line.to === undefined || line.to === null)) told = withoutName(line.text, ["Moderator"]);
  }
  return told;
}

function ringMiddle(replay, step) {
  const scene = lastOf(replay.scene, step);
  const lines = scene ? scene[1].split("\n") : [lastTold(replay, step).slice(0, 160)];
  const ended = step === replay.last ? make("p", { class: "small" }, plainWords(replay.header.ended || "")) : null;
  return [...lines.map((line, number) => make("div", { class: number ? "small soft" : "strong" }, plainWords(line))), ended];
}
