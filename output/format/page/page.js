// The page is complete without this script. It filters its findings, searches and sorts its
// long tables, keeps both in the address (#q=sql&sev=high&vms.sort=vCPUs), and saves what
// is shown as CSV.
(function () {
  "use strict";
  const number = new Intl.NumberFormat("en");
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

  function keep(key, value) {
    if (value) state.set(key, value); else state.delete(key);
    const hash = state.toString();
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  }

  // words returns a test for text that has all words of the query.
  function words(query) {
    const all = query.toLowerCase().split(/\s+/).filter(Boolean);
    return (text) => all.every((word) => text.includes(word));
  }

  function findings() {
    const form = document.getElementById("filter");
    if (!form) return;
    const quiet = document.getElementById("quiet");
    const rules = [...document.querySelectorAll(".rule")].map((el) => {
      const head = el.querySelector("summary").textContent.toLowerCase();
      const items = [...el.querySelectorAll(".finding")].map((item) => ({
        el: item, place: item.dataset.place, sev: item.dataset.sev, text: head + " " + item.textContent.toLowerCase(),
      }));
      return { el, items };
    });
    const q = form.querySelector("#q"), place = form.querySelector("#place"), shown = form.querySelector("output"), boxes = [...form.querySelectorAll("[name=sev]")];
    q.value = state.get("q") || "";
    if (place) place.value = state.get("place") || "";
    if (place && place.selectedIndex < 0) place.value = "";
    if (state.has("sev")) boxes.forEach((box) => { box.checked = state.get("sev").split(",").includes(box.value); });

    let was = false;
    function apply() {
      const matches = words(q.value), name = place ? place.value : "", on = boxes.filter((box) => box.checked).map((box) => box.value);
      const narrowed = q.value.trim() !== "" || name !== "";
      let n = 0, all = 0, quietly = 0;
      for (const rule of rules) {
        let inRule = 0;
        for (const item of rule.items) {
          item.el.hidden = !((!name || item.place === name) && on.includes(item.sev) && matches(item.text));
          if (!item.el.hidden) inRule++;
        }
        all += rule.items.length;
        n += inRule;
        rule.el.hidden = inRule === 0;
        if (narrowed !== was) rule.el.open = narrowed;
        if (quiet && quiet.contains(rule.el)) quietly += inRule;
      }
      if (quiet) {
        quiet.hidden = quietly === 0;
        if (narrowed !== was) quiet.open = narrowed;
      }
      was = narrowed;
      shown.textContent = n < all ? number.format(n) + " of " + number.format(all) + " shown" : "";
    }
    form.addEventListener("input", () => {
      const on = boxes.filter((box) => box.checked).map((box) => box.value);
      keep("q", q.value.trim());
      if (place) keep("place", place.value);
      keep("sev", on.length === boxes.length ? "" : on.join(",") || "none");
      apply();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    apply();
  }

  function searchable(table) {
    const form = table.closest("section").querySelector(".filter"), body = table.tBodies[0], name = table.dataset.name;
    const heads = [...table.tHead.rows[0].cells], rows = [...body.rows].map((el, order) => ({ el, order, text: el.textContent.toLowerCase() }));
    const names = heads.map((th) => th.textContent);
    const query = form.querySelector("input"), shown = form.querySelector("output"), sortKey = name + ".sort";
    query.value = state.get(name) || "";

    const more = table.closest("section").querySelector(".all"), few = 5; // rows before all are shown
    let whole = rows.length <= 2 * few;
    function filter() {
      const matches = words(query.value);
      let n = 0;
      for (const row of rows) {
        row.found = matches(row.text);
        if (row.found) n++;
        row.el.hidden = !row.found || (!whole && n > few);
      }
      more.hidden = whole || n <= few;
      shown.textContent = n < rows.length ? number.format(n) + " of " + number.format(rows.length) : "";
    }
    more.firstChild.addEventListener("click", () => { whole = true; filter(); });
    function sort() {
      const key = (state.get(sortKey) || "").replace(/^-/, ""), down = (state.get(sortKey) || "").startsWith("-"), column = names.indexOf(key);
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
      filter();
    }
    heads.forEach((th, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = names[i];
      button.addEventListener("click", () => {
        const now = state.get(sortKey);
        keep(sortKey, now === names[i] ? "-" + names[i] : now === "-" + names[i] ? "" : names[i]);
        sort();
      });
      th.replaceChildren(button);
    });
    query.addEventListener("input", () => { keep(name, query.value.trim()); filter(); });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.querySelector(".save").addEventListener("click", () => save(name, heads, rows.filter((row) => row.found)));
    form.hidden = false;
    if (state.has(sortKey)) sort(); else filter();
  }

  // save offers the rows as CSV. A text that a spreadsheet would run as a formula
  // gets an apostrophe before it, as Guard of package table does (a test compares them).
  const guarded = /^(?:'|[\s\p{Z}\p{Cc}]*[=+\-@＝＋－＠])/u;
  function save(name, heads, rows) {
    const field = (text) => '"' + (guarded.test(text) ? "'" : "") + text.replace(/"/g, '""') + '"';
    const mark = (text) => (document.querySelector(".simulated") ? "," + field(text) : ""); // what was simulated says so
    const line = (cells, last) => [...cells].map((cell) => field(cell.textContent)).join(",") + mark(last);
    const text = "\ufeff" + [line(heads, "Simulated"), ...rows.map((row) => line(row.el.cells, "True"))].join("\r\n") + "\r\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // Links inside the page open what they point at and leave the state in the address.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const target = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!target) return;
    event.preventDefault();
    for (let el = target; el; el = el.parentElement) {
      if (el.tagName === "DETAILS") el.open = true;
      el.hidden = false;
    }
    target.scrollIntoView();
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
  });

  // Printing shows the findings of closed rules too, also in browsers whose style
  // sheets cannot open them; not the harmless ones, and evidence only where it matters.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll(".rule:not(.info):not([open]), .rule:not(.info) .evidence:not([open])")];
    closed.forEach((el) => { el.open = true; });
  });
  addEventListener("afterprint", () => { closed.forEach((el) => { el.open = false; }); });

  findings();
  document.querySelectorAll("table.long").forEach(searchable);
})();
