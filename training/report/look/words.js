// Foreign words: isolated from the direction of the text around them, with unprintable characters shown by name, and
// long ones folded. Directions: Unicode Standard Annex 9; what is marked: its controls, other controls, zero-width space.
// words(text) -> an element; plainWords(text) -> the same without folding; asText(text, most) -> a text, for options and labels

const LONGEST = 1200; // characters shown at once
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const NAMED = {
  0x200e: "LRM", 0x200f: "RLM", 0x061c: "ALM", 0x202a: "LRE", 0x202b: "RLE", 0x202c: "PDF", 0x202d: "LRO", 0x202e: "RLO",
  0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0x200b: "ZWSP", 0xfeff: "BOM",
};

function plainWords(text, kind) {
  const element = make("bdi", { class: "words pre " + (kind || ""), dir: "auto" });
  return appendMarked(element, String(text));
}

function appendMarked(element, text) {
  let from = 0;
  for (const found of text.matchAll(UNSEEN)) {
    element.append(text.slice(from, found.index), unseen(found[0]));
    from = found.index + found[0].length;
  }
  element.append(text.slice(from));
  return element;
}

function unseen(letter) {
  return make("span", { class: "unseen", title: "a character that is not printed: " + codeOf(letter) }, nameOf(letter));
}

function codeOf(letter) {
  return "U+" + letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
}

function nameOf(letter) {
  return NAMED[letter.charCodeAt(0)] || codeOf(letter);
}

// For places that hold text alone (options, labels, titles): the marks in brackets, and no more than `most` characters.
function asText(text, most) {
  const whole = String(text);
  const shown = most && whole.length > most ? whole.slice(0, most) + "\u2026" : whole;
  return shown.replace(UNSEEN, (letter) => "[" + nameOf(letter) + "]");
}

function words(text, kind) {
  const whole = String(text);
  if (whole.length <= LONGEST) return plainWords(whole, kind);
  const element = plainWords(cut(whole), kind);
  const more = make("button", { type: "button", class: "small" }, "show all " + whole.length.toLocaleString("en") + " characters");
  more.addEventListener("click", () => fill(element, ...appendMarked(make("bdi", {}), whole).childNodes));
  element.append(" \u2026 ", more);
  return element;
}

// Never within a pair of surrogates.
function cut(text) {
  const last = text.charCodeAt(LONGEST - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? LONGEST - 1 : LONGEST);
}
