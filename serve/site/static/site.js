// Every page is complete without this script. It shows what a form asks while it is typed, without loading the page, and
// fetches what is live again when the server says that it has changed.
(function () {
  "use strict";
  const main = () => document.getElementById("main");
  let running = null;

  // fetchPage fetches a page of this site, by what a form posts if there is more than an address holds; a later call ends an earlier one,
  // which then gives null.
  async function fetchPage(address, posted) {
    if (running) running.abort();
    const mine = (running = new AbortController());
    try {
      const response = await fetch(address, posted ? { signal: mine.signal, method: "POST", body: posted } : { signal: mine.signal });
      const text = await response.text();
      return running === mine ? { ok: response.ok, page: new DOMParser().parseFromString(text, "text/html") } : null;
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    } finally {
      if (running === mine) running = null;
    }
  }

  // show puts the content of the page that a form asks for in the place of this one's.
  async function show(address, posted) {
    main().setAttribute("aria-busy", "true");
    try {
      const answer = await fetchPage(address, posted);
      if (!answer) return;
      history.replaceState(null, "", address);
      swap(answer.page);
      main().removeAttribute("aria-busy");
    } catch (error) {
      main().removeAttribute("aria-busy");
      if (!posted) location.assign(address); // else the text would be lost
    }
  }

  // placeOf says which element of its kind something is: it has the focus again when everything is new.
  function placeOf(now, el) {
    const what = el.tagName.toLowerCase() === "a" && el.getAttribute("href") ? "a[href=" + CSS.escape(el.getAttribute("href")) + "]" : el.tagName.toLowerCase();
    return { id: el.id, what, nth: [...now.querySelectorAll(what)].indexOf(el) };
  }

  // plots loads what draws series, or plays drawings, where a page has them.
  let loaded = false;
  function plots() {
    const wanted = document.getElementById("over-time") ? ["/static/uPlot.js", "/static/series.js"] : location.pathname === "/simulate" && document.getElementById("drawings") ? ["/static/play.js"] : [];
    if (loaded || wanted.length === 0) return;
    loaded = true;
    for (const address of wanted) {
      const script = document.createElement("script");
      script.src = address;
      script.async = false; // in this order
      document.head.append(script);
    }
  }

  // listen fetches what is live again when the server says that it has changed: not while the tab is hidden, nor while somebody
  // types, and at once when it is seen again.
  function listen() {
    let source = null, missed = false, waits = 0;
    const live = () => main().hasAttribute("data-live");
    const busy = () => document.hidden || main().hasAttribute("aria-busy") || document.activeElement && document.activeElement.closest("#main form");
    function changed() {
      if (!live()) return;
      missed = true;
      clearTimeout(waits);
      if (!busy()) waits = setTimeout(again, 1000 * Math.random()); // many readers do not ask at once
    }
    async function again() {
      if (busy()) return;
      missed = false;
      try {
        const answer = await fetchPage(location.href);
        if (answer && answer.ok && !busy()) swap(answer.page);
        else missed = true;
      } catch (error) {
        missed = true; // what stands is better
      }
    }
    function open() {
      if (source || document.hidden || !live()) return;
      source = new EventSource("/events");
      source.addEventListener("changed", changed);
    }
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        if (source) source.close();
        source = null;
        missed = true;
        return;
      }
      open();
      if (missed) changed();
    });
    document.addEventListener("focusout", () => setTimeout(() => { if (missed) changed(); }, 0));
    document.addEventListener("homenode:shown", () => { open(); if (missed) changed(); });
    open();
  }

  // swap replaces everything in main but the form that has the focus: what somebody types stays.
  function swap(page) {
    const now = main(), next = page.getElementById("main"), focused = document.activeElement;
    const form = focused && focused.closest && focused.closest("#main form");
    const at = !form && focused && now.contains(focused) ? placeOf(now, focused) : null;
    const opened = [...now.querySelectorAll("details[open][id]")].map((el) => el.id);
    const same = form && [...next.querySelectorAll("form")].find((el) => el.getAttribute("action") === form.getAttribute("action") && el.className === form.className && el.getAttribute("aria-label") === form.getAttribute("aria-label"));
    if (same) same.replaceWith(form);
    document.title = page.title;
    const plotted = now.querySelector(".plotted > .plots"), turn = now.querySelector("button.drawn"); // stand until the series is there
    now.replaceChildren(...next.childNodes);
    const figure = document.getElementById("over-time");
    if (figure && plotted) {
      figure.append(plotted);
      figure.classList.add("plotted");
    }
    if (figure && turn) figure.insertBefore(turn, figure.querySelector(".scroll"));
    const again = form ? focused : at && document.getElementById(at.id) || at && [...now.querySelectorAll(at.what)][at.nth];
    if (again) again.focus({ preventScroll: true });
    opened.forEach((id) => { const el = document.getElementById(id); if (el) el.open = true; });
    now.toggleAttribute("data-live", next.hasAttribute("data-live"));
    plots();
    copies();
    document.dispatchEvent(new Event("homenode:shown"));
  }

  // copies shows the buttons that copy a text, where a browser can.
  function copies() {
    if (navigator.clipboard) document.querySelectorAll("[data-copy]").forEach((el) => { el.hidden = false; });
  }
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });

  let timer = 0;
  const mostAddress = 6000; // as the server has it
  function ask(form) {
    const query = new URLSearchParams(), path = form.getAttribute("action") || location.pathname;
    for (const [name, value] of new FormData(form)) if (value !== "" || form.dataset.keep) query.append(name, value);
    if (query.toString().length > mostAddress) show(path, query); else show(path + "?" + query);
  }
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-swap]");
    if (!form) return;
    clearTimeout(timer);
    timer = setTimeout(() => ask(form), event.target.matches("select, [type=checkbox]") ? 0 : 350);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-swap]");
    if (!form) return;
    event.preventDefault();
    clearTimeout(timer);
    ask(form);
  });
  plots();
  copies();
  listen();
})();
