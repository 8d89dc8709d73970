"use strict";
// Tables that can be sorted by any column and filtered by text. Without this script they are plain tables.
(() => {
  const value = (cell) => {
    const text = cell.dataset.sort !== undefined ? cell.dataset.sort : cell.textContent.trim();
    const number = Number.parseFloat(text);
    return { number: /^[<>]?-?[\d.]/.test(text) && !Number.isNaN(number) ? number : null, text };
  };
  // Text before numbers before cells without a value, which stay last in both directions.
  const compare = (a, b, sign) => {
    const missing = (one) => one.text === "" || one.text === "–";
    if (missing(a) !== missing(b)) return missing(a) ? 1 : -1;
    if (a.number !== null && b.number !== null) return sign * (a.number - b.number);
    return sign * a.text.localeCompare(b.text, undefined, { numeric: true });
  };
  const sort = (table, head, column) => {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const numeric = !head.querySelector("button").dataset.text;
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => {
      const found = value(row.cells[column]);
      if (!numeric) found.number = null;
      return { row, found };
    });
    rows.sort((a, b) => compare(a.found, b.found, sign));
    for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    body.append(...rows.map((one) => one.row));
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const head of table.tHead.querySelectorAll("th[scope=col]")) {
      const column = head.dataset.column === undefined ? head.cellIndex : Number(head.dataset.column);
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      if (!head.classList.contains("number")) button.dataset.text = "1";
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    }
  }
  for (const table of document.querySelectorAll("table.filterable")) {
    const rows = Array.from(table.tBodies[0].rows);
    const words = rows.map((row) => row.textContent.toLocaleLowerCase());
    const box = document.createElement("p");
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    const flags = document.createElement("label");
    const flag = document.createElement("input");
    box.className = "filter";
    input.type = "search";
    input.placeholder = "words that a row must have";
    flag.type = "checkbox";
    label.append("Filter ", input);
    flags.append(flag, " only those with a remark");
    const filter = () => {
      const wanted = input.value.toLocaleLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, i) => {
        const special = Array.from(row.querySelectorAll(".status"), (cell) => cell.textContent.trim()).some((said) => said !== "ok");
        row.hidden = !(wanted.every((word) => words[i].includes(word)) && (!flag.checked || special));
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = `${shown} of ${rows.length} subgroups`;
    };
    input.addEventListener("input", filter);
    flag.addEventListener("change", filter);
    filter();
    box.append(label, flags, count);
    table.closest(".wide").before(box);
  }
})();
