// A page of a report: what stands in it is there without any script; its tables become sortable.

function report() {
  for (const table of document.querySelectorAll("table.sorts")) sortable(table);
}
report();
