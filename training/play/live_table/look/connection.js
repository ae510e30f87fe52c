// The connection to the table: opened with the key behind the # of the address, and opened again when it is lost.
// const line = connection(key, {message, state})     line.send(object) -> whether it could be sent
// state(kind, text): "on", "off" (it will be tried again) or "ended" (it will not)

const STAYS_AWAY = 4000; // the code of an end after which nothing is tried again
const FIRST_WAIT = 500; // milliseconds; doubled with each failure
const LONGEST_WAIT = 8000;

function connection(key, told) {
  let socket = null, wait = FIRST_WAIT;
  const open = () => {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(scheme + "//" + location.host + "/table");
    socket.addEventListener("open", () => {
      wait = FIRST_WAIT;
      socket.send(JSON.stringify({ type: "sit", key }));
      told.state("on", "connected");
    });
    socket.addEventListener("message", (event) => told.message(JSON.parse(event.data)));
    socket.addEventListener("close", (event) => {
      if (event.code === STAYS_AWAY) {
        told.state("ended", "not connected");
        return;
      }
      told.state("off", "connection lost; trying again");
      setTimeout(open, wait);
      wait = Math.min(LONGEST_WAIT, 2 * wait);
    });
  };
  const send = (message) => {
    if (!socket || socket.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    return true;
  };
  open();
  return { send };
}
