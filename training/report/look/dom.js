// Elements of a page. Text goes in by textContent alone: nothing that comes from the data is ever read as HTML.
// make(tag, {class, attributes..., on...}, ...children)   an element; strings among the children become text
// fill(element, ...children)                              its children, in place of those it had
// byId(id), pageData()                                    an element of the page; the page's data

const SVG = "http://www.w3.org/2000/svg";
const VOID = [null, undefined, false];
const READ_ALOUD = ["title", "aria-label", "label", "alt", "placeholder"]; // attributes that people read
const TEXT_ALONE = ["OPTION", "title", "text"]; // elements that hold no others

function make(tag, attributes, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (VOID.includes(value)) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : READ_ALOUD.includes(name) ? asText(value) : String(value));
  }
  return fill(element, children);
}

function fill(element, ...children) {
  const given = children.flat(Infinity).filter((child) => !VOID.includes(child));
  element.replaceChildren(...given.map((child) => (child instanceof Node ? child : asNode(element, String(child)))));
  return element;
}

// A text as it goes into an element: characters that are not printed are shown as marks, wherever it comes from.
function asNode(element, text) {
  if (text.search(UNSEEN) < 0) return text;
  return TEXT_ALONE.includes(element.tagName) ? asText(text) : appendMarked(document.createElement("bdi"), text);
}

function byId(id) {
  return document.getElementById(id);
}

function pageData() {
  return JSON.parse(byId("data").textContent);
}

// A group of buttons of which one is pressed. options: [[value, label], ...]; select(value) presses without calling back.
function choice(label, options, chosen) {
  const buttons = options.map(([value, text]) =>
    make("button", { type: "button", "aria-pressed": "false", onclick: () => chosen(value) }, text));
  const element = make("div", { class: "row", role: "group", "aria-label": label }, buttons);
  const select = (value) => buttons.forEach((button, number) =>
    button.setAttribute("aria-pressed", String(options[number][0] === value)));
  return { element, select };
}

function badge(text, kind, title) {
  return make("span", { class: "badge " + (kind || ""), title }, String(text));
}

// A fold that makes its inside when it is opened first: thousands of prompts cost nothing until they are read.
function fold(title, inside) {
  const box = make("div", { class: "inside" });
  const element = make("details", {}, make("summary", {}, title), box);
  element.addEventListener("toggle", () => { if (element.open && !box.firstChild) fill(box, inside()); });
  return element;
}
