// The page is complete without this script. It searches and sorts its long tables, and
// saves what is shown as CSV.
(function () {
  "use strict";
  const number = new Intl.NumberFormat("en");
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // words returns a test for text that has all words of the query.
  function words(query) {
    const all = query.toLowerCase().split(/\s+/).filter(Boolean);
    return (text) => all.every((word) => text.includes(word));
  }

  function searchable(table) {
    const form = table.closest("section").querySelector(".filter"), body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells], rows = [...body.rows].map((el, order) => ({ el, order, text: el.textContent.toLowerCase() }));
    const query = form.querySelector("input"), shown = form.querySelector("output");
    let column = -1, down = false;

    function filter() {
      const matches = words(query.value);
      let n = 0;
      for (const row of rows) {
        row.el.hidden = !matches(row.text);
        if (!row.el.hidden) n++;
      }
      shown.textContent = number.format(n) + " of " + number.format(rows.length);
    }
    function sort() {
      const value = (row) => {
        const cell = row.el.cells[column];
        return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
      };
      heads.forEach((th, i) => { th.setAttribute("aria-sort", i !== column ? "none" : down ? "descending" : "ascending"); });
      if (column >= 0) for (const row of rows) row.value = value(row);
      rows.sort((a, b) => {
        if (column < 0) return a.order - b.order;
        const order = typeof a.value === "number" && typeof b.value === "number" ? a.value - b.value : collator.compare(a.value, b.value);
        return (down ? -order : order) || a.order - b.order;
      });
      body.append(...rows.map((row) => row.el));
    }
    heads.forEach((th, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = th.textContent;
      button.addEventListener("click", () => {
        if (column !== i) { column = i; down = false; } else if (!down) down = true; else column = -1;
        sort();
      });
      th.replaceChildren(button);
    });
    query.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.querySelector("button").addEventListener("click", () => save(table.dataset.name, heads, rows.filter((row) => !row.el.hidden)));
    form.hidden = false;
    filter();
  }

  // save offers the rows as CSV. A text that a spreadsheet would run as a formula
  // gets an apostrophe before it, as Guard of package table does (a test compares them).
  const guarded = /^(?:'|[\s\p{Z}\p{Cc}]*[=+\-@＝＋－＠])/u;
  function save(name, heads, rows) {
    const field = (text) => '"' + (guarded.test(text) ? "'" : "") + text.replace(/"/g, '""') + '"';
    const line = (cells) => [...cells].map((cell) => field(cell.textContent)).join(",");
    const text = "\ufeff" + [line(heads), ...rows.map((row) => line(row.el.cells))].join("\r\n") + "\r\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  document.querySelectorAll("table.long").forEach(searchable);
})();
