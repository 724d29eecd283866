// The page is complete without this script. It filters and sorts what is there,
// keeps the state in the address (#q=sql&sev=high&sort=vcpus), and saves CSV.
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const number = new Intl.NumberFormat("en");
  const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

  function keep(key, value) {
    if (value) state.set(key, value); else state.delete(key);
    const hash = state.toString();
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  }

  // words returns a test for text that holds all words of the query.
  function words(query) {
    const all = query.toLowerCase().split(/\s+/).filter(Boolean);
    return (text) => all.every((word) => text.includes(word));
  }

  function findings() {
    const form = $("filter");
    if (!form) return;
    const groups = [...document.querySelectorAll(".severity")].map((el) => ({
      el, sev: el.dataset.sev,
      rules: [...el.querySelectorAll(".rule")].map((rule) => {
        const head = rule.querySelector("summary").textContent.toLowerCase();
        const items = [...rule.querySelectorAll(".finding")].map((item) => ({
          el: item, cluster: item.dataset.cluster, text: head + " " + item.textContent.toLowerCase(),
        }));
        return { el: rule, items, open: rule.open, cut: rule.querySelector(".cut") };
      }),
    }));
    const q = $("q"), cluster = $("cluster"), boxes = [...form.querySelectorAll("[name=sev]")];
    q.value = state.get("q") || "";
    if (cluster) cluster.value = state.get("cluster") || "";
    if (cluster && cluster.selectedIndex < 0) cluster.value = "";
    if (state.has("sev")) boxes.forEach((box) => { box.checked = state.get("sev").split(",").includes(box.value); });

    function apply() {
      const matches = words(q.value), name = cluster ? cluster.value : "", on = boxes.filter((box) => box.checked).map((box) => box.value);
      const narrowed = q.value.trim() !== "" || name !== "";
      let shown = 0, all = 0;
      for (const group of groups) {
        let inGroup = 0;
        for (const rule of group.rules) {
          let inRule = 0;
          for (const item of rule.items) {
            const show = (!name || item.cluster === name) && matches(item.text);
            item.el.hidden = !show;
            if (show) inRule++;
          }
          all += rule.items.length;
          rule.el.hidden = inRule === 0;
          rule.el.open = narrowed ? inRule > 0 : rule.open;
          inGroup += inRule;
        }
        group.el.hidden = inGroup === 0 || !on.includes(group.sev);
        if (!group.el.hidden) shown += inGroup;
      }
      $("shown").textContent = number.format(shown) + " of " + number.format(all) + " shown";
    }
    form.addEventListener("input", () => {
      const on = boxes.filter((box) => box.checked).map((box) => box.value);
      keep("q", q.value.trim());
      if (cluster) keep("cluster", cluster.value);
      keep("sev", on.length === boxes.length ? "" : on.join(",") || "none");
      apply();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    apply();
  }

  function table() {
    const body = document.querySelector("#vmtable tbody"), heads = [...document.querySelectorAll("#vmtable thead th")];
    const rows = [...body.rows].map((el, order) => ({ el, order, text: el.textContent.toLowerCase() + " " }));
    const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
    const q = $("vq");
    q.value = state.get("vms") || "";

    function filter() {
      const matches = words(q.value);
      let shown = 0;
      for (const row of rows) {
        row.el.hidden = !matches(row.text);
        if (!row.el.hidden) shown++;
      }
      $("vmshown").textContent = number.format(shown) + " of " + number.format(rows.length) + " VMs";
    }
    function sort() {
      const key = (state.get("sort") || "").replace(/^-/, ""), down = (state.get("sort") || "").startsWith("-");
      const column = heads.findIndex((th) => th.dataset.key === key);
      heads.forEach((th, i) => { th.setAttribute("aria-sort", i !== column ? "none" : down ? "descending" : "ascending"); });
      const value = (row) => {
        const cell = row.el.cells[column];
        return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
      };
      const by = (a, b) => {
        if (column < 0) return a.order - b.order;
        const order = typeof a.value === "number" ? a.value - b.value : collator.compare(a.value, b.value);
        return (down ? -order : order) || a.order - b.order;
      };
      if (column >= 0) for (const row of rows) row.value = value(row);
      rows.sort(by);
      body.append(...rows.map((row) => row.el));
    }
    heads.forEach((th) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = th.textContent;
      button.addEventListener("click", () => {
        const key = th.dataset.key, now = state.get("sort");
        keep("sort", now === key ? "-" + key : now === "-" + key ? "" : key);
        sort();
      });
      th.replaceChildren(button);
    });
    q.addEventListener("input", () => { keep("vms", q.value.trim()); filter(); });
    $("vmfilter").addEventListener("submit", (event) => event.preventDefault());
    $("csv").addEventListener("click", () => save(heads, rows.filter((row) => !row.el.hidden)));
    $("vmfilter").hidden = false;
    filter();
    if (state.has("sort")) sort();
  }

  // save offers the rows as CSV. A text that a spreadsheet would run as a formula
  // gets an apostrophe before it, as Guard of package table does (a test compares them).
  const guarded = /^(?:'|[\s\p{Z}\p{Cc}]*[=+\-@＝＋－＠])/u;
  function save(heads, rows) {
    const field = (text) => '"' + (guarded.test(text) ? "'" : "") + text.replace(/"/g, '""') + '"';
    const line = (cells) => [...cells].map((cell) => field(cell.textContent)).join(",");
    const text = "\ufeff" + [line(heads), ...rows.map((row) => line(row.el.cells))].join("\r\n") + "\r\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = "vms.csv";
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
    closed = [...document.querySelectorAll(".severity:not(.info) details.rule:not([open]), .severity:not(.info) details.evidence:not([open])")];
    closed.forEach((el) => { el.open = true; });
  });
  addEventListener("afterprint", () => { closed.forEach((el) => { el.open = false; }); });

  findings();
  table();
})();
