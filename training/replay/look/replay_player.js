// A game that plays by itself: one stop after another, with a pause between them, until the end.
// const player = gamePlayer(step, rewind)     step(): one stop on, false at the end; rewind(): before a start, from the end to the beginning
// player.element: the button and the choice of speed; player.toggle(), player.stop()

const SPEEDS = [["0.5", 2400], ["1", 1200], ["2", 600], ["4", 300]]; // milliseconds a step; browsers allow 200 addresses in 30 seconds

function gamePlayer(step, rewind) {
  let timer = 0;
  const button = make("button", { type: "button", class: "primary", id: "play", title: "play or pause (space bar)", onclick: () => toggle() }, "Play");
  const speed = make("select", { "aria-label": "speed", id: "speed" }, SPEEDS.map(([name, wait]) => make("option", { value: wait, selected: name === "1" }, name + "\u00d7")));
  const next = () => { if (step()) timer = setTimeout(next, Number(speed.value)); else stop(); };
  const stop = () => {
    clearTimeout(timer);
    timer = 0;
    fill(button, "Play");
  };
  const toggle = () => {
    if (timer) return stop();
    fill(button, "Pause");
    rewind();
    timer = setTimeout(next, Number(speed.value));
  };
  return { element: make("div", { class: "row" }, button, speed), toggle, stop };
}
