// Tables that sort by a click on a heading; rows without a value stay last.
// grid({caption (or label, which is not shown), columns: [{name, number, title}], rows: [[cell, ...]]}) -> an element; a cell is text, a number, null, an
//   element, or {text, key, class}; key is what it is sorted by
// sortable(table)   makes the headings of a table that stands in the page into buttons; a cell's data-key is its key

function grid(spec) {
  const heads = spec.columns.map((column) =>
    make("th", { scope: "col", class: column.number ? "number" : null, title: column.title }, column.name));
  const rows = spec.rows.map((row) => make("tr", {}, row.map((cell, at) => gridCell(cell, spec.columns[at]))));
  const table = make("table", {}, spec.caption ? make("caption", {}, spec.caption) : null,
    make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows));
  if (!spec.fixed) sortable(table);
  return scrolling(table, spec.caption || spec.label || "table");
}

function scrolling(table, label) {
  return make("div", { class: "table", tabindex: "0", role: "region", "aria-label": label }, table);
}

function gridCell(cell, column) {
  const part = cell !== null && typeof cell === "object" && !(cell instanceof Node) ? cell : { text: cell };
  const kinds = [column.number && "number", part.class].filter(Boolean).join(" ");
  const inside = part.text instanceof Node ? part.text : plainWords(part.text === null || part.text === undefined ? "" : part.text);
  const key = part.key === undefined ? (typeof part.text === "number" ? part.text : null) : part.key;
  return make("td", { class: kinds || null, "data-key": key }, inside);
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", onclick: () => sortBy(table, heads, column) });
    button.append(...head.childNodes);
    head.append(button);
  });
}

function sortBy(table, heads, column) {
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [sortKey(row.cells[column]), row]);
  rows.sort(([one], [other]) => inOrder(one, other, down ? -1 : 1));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function inOrder(one, other, sign) {
  if (one === "" || other === "") return (one === "") - (other === "");
  if (typeof one === typeof other && typeof one === "number") return sign * (one - other);
  return sign * String(one).localeCompare(String(other), "en", { numeric: true });
}

function sortKey(cell) {
  const told = cell.dataset.key === undefined ? cell.textContent.trim() : cell.dataset.key;
  return told !== "" && !Number.isNaN(Number(told)) ? Number(told) : told;
}
