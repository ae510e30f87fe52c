// Until everybody has come: the rules in three lines, who is missing, and on the host's page the links to send, with their QR codes.
// const panel = waitingPanel(section, title, body)      panel.show(message), panel.hide()

function waitingPanel(section, title, body) {
  let shown = null; // as JSON: a message that comes again on a new connection changes nothing, and nothing is folded up
  const hide = () => { section.hidden = true; };
  const show = (message) => {
    section.hidden = false;
    if (shown === JSON.stringify(message)) return;
    shown = JSON.stringify(message);
    const missing = message.people.filter((person) => !person.here).map((person) => person.name);
    title.textContent = asText("Waiting for " + missing.join(", "), 300);
    fill(body, gameInBrief(message), message.links.length ? make("div", {}, make("h3", {}, "Send each person their link"),
      make("p", { class: "small soft" }, "A link is a seat. Only this page shows them."),
      message.near ? make("p", { class: "note" }, "Only this machine can open these links. To let others in, start the table with --host 0.0.0.0 --token.") : null, message.links.map(invitation)) : null);
  };
  return { show, hide };
}

function gameInBrief(message) {
  const people = message.people.map((person) => make("li", {}, plainWords(person.name), " ", badge(person.here ? "here" : "missing", person.here ? "plain" : "warn")));
  const others = message.others === 1 ? "One seat is" : message.others + " seats are";
  const lines = make("ol", { class: "brief" }, message.lines.map((line) => make("li", {}, plainWords(line))));
  lines.lang = message.language;
  return make("div", {}, message.lines.length ? lines : null, message.rules ? fold("All rules of this table", () =>
    make("div", { class: "rules", tabindex: "0", role: "region", "aria-label": "the rules in full" }, plainWords(message.rules))) : null,
    make("ul", { class: "people", "aria-label": "people at this table" }, people),
    message.others ? make("p", { class: "small soft" }, others + " played by the computer.") : null,
    make("p", { class: "small soft" }, "The game begins when all are here."));
}

function invitation(place) {
  const who = place.name || "watchers";
  const link = make("code", { class: "link" }, place.link);
  const copy = make("button", { type: "button", "aria-label": "copy the link for " + who, onclick: async () => {
    window.getSelection().selectAllChildren(link);
    const copied = navigator.clipboard ? await navigator.clipboard.writeText(place.link).then(() => true, () => false) : document.execCommand("copy");
    copy.textContent = copied ? "Copied" : "Press Ctrl-C";
  } }, "Copy");
  const code = place.qr.startsWith("data:image/svg+xml") ? make("img", { src: place.qr, alt: "QR code of the link for " + who }) : null;
  return make("div", { class: "invitation" }, code, make("div", {}, make("h3", {}, place.name ? plainWords(place.name) : "To watch"), make("p", {}, link), copy));
}
