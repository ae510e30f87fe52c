// The connection to the table: opened with the key behind the # of the address, and opened again when it is lost or silent.
// const line = connection(key, {message, state})     line.send(object): sent if the connection is open; else it is not
// line.look(): called every second; opens, pings, and gives up what is silent. line.wake(): the page or the network is back
// state(kind, text): "on", "off" (it will be tried again) or "ended" (it will not)
// A link may be dead without a word: then only the missing answer to a ping shows it. Events of a connection that was given up are ignored.

const STAYS_AWAY = 4000; // the code of an end after which nothing is tried again
const FIRST_WAIT = 500; // milliseconds; doubled with each failure
const LONGEST_WAIT = 8000;
const PING_AFTER = 4000; // milliseconds without a message, after which the table is pinged
const ANSWERS_WITHIN = 5000; // milliseconds that an answer to a ping may take
const OPENS_WITHIN = 10000; // milliseconds from opening to the table's first message

function connection(key, told) {
  const page = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
  let socket = null, ended = false, wait = FIRST_WAIT, due = 0;
  let heard = 0, deadline = null; // when the table was heard last; until when it has to answer, null: nothing is asked
  const now = () => performance.now();
  const open = () => {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const folder = location.pathname.replace(/[^/]*$/, ""); // behind a proxy the page may have a prefix
    const opened = socket = new WebSocket(scheme + "//" + location.host + folder + "table");
    const current = (act) => (event) => { if (socket === opened) act(event); };
    deadline = now() + OPENS_WITHIN;
    socket.addEventListener("open", current(() => {
      send({ type: "sit", key, page, address: location.origin + folder });
      send({ type: "ping" });
    }));
    socket.addEventListener("message", current((event) => hear(JSON.parse(event.data))));
    socket.addEventListener("close", current((event) => {
      if (event.code === STAYS_AWAY) end();
      else lose();
    }));
  };
  const hear = (message) => {
    heard = now();
    deadline = null;
    wait = FIRST_WAIT;
    told.state("on", "connected");
    if (message.type !== "pong" && message.type !== "replaced") told.message(message);
  };
  const end = () => {
    ended = true;
    socket = null;
    told.state("ended", "not connected");
  };
  const lose = () => {
    const lost = socket;
    socket = null;
    lost.close(); // a silent one stays until the browser gives it up
    told.state("off", "connection lost; trying again");
    due = now() + wait;
    wait = Math.min(LONGEST_WAIT, 2 * wait);
  };
  const isOpen = () => socket !== null && socket.readyState === WebSocket.OPEN;
  const send = (message) => {
    if (isOpen()) socket.send(JSON.stringify(message));
    return isOpen();
  };
  const ping = () => {
    deadline = now() + ANSWERS_WITHIN;
    send({ type: "ping" });
  };
  const look = () => {
    if (ended) return;
    if (socket === null) {
      if (now() >= due) open();
    } else if (deadline !== null) {
      if (now() >= deadline) lose();
    } else if (now() - heard >= PING_AFTER) ping();
  };
  const wake = () => {
    due = 0;
    wait = FIRST_WAIT;
    if (deadline === null && isOpen()) ping();
    else if (deadline !== null) deadline = Math.min(deadline, now() + ANSWERS_WITHIN);
    look();
  };
  open();
  return { send, look, wake };
}
