// Every page is complete without this script. It shows what a form asks while it is typed, without loading the page, and
// fetches what is live again when the server says that it has changed.
(function () {
  "use strict";
  const main = () => document.getElementById("main");
  let running = null;

  // show fetches a page of this site and puts its content in the place of this one's.
  async function show(address, push, quiet) {
    if (running) running.abort();
    const mine = (running = new AbortController());
    if (!quiet) main().setAttribute("aria-busy", "true");
    try {
      const response = await fetch(address, { signal: mine.signal });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!response.ok && quiet) return; // what stands is better
      if (push) history.replaceState(null, "", address);
      swap(page);
    } catch (error) {
      if (error.name !== "AbortError" && !quiet) location.assign(address);
      return;
    } finally {
      if (running === mine) main().removeAttribute("aria-busy");
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
    const busy = () => document.activeElement && document.activeElement.closest("#main form:not(.act)");
    function changed() {
      if (!live()) return;
      if (document.hidden || busy()) { missed = true; return; }
      clearTimeout(waits);
      missed = false;
      waits = setTimeout(() => show(location.href, false, true), 1000 * Math.random()); // many readers do not ask at once
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
    document.addEventListener("homenode:shown", open);
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
    const plotted = now.querySelector(".plotted > .plots"); // stands until it is drawn anew
    now.replaceChildren(...next.childNodes);
    const figure = plotted && document.getElementById("over-time");
    if (figure) {
      figure.append(plotted);
      figure.classList.add("plotted");
    }
    const again = form ? focused : at && document.getElementById(at.id) || at && [...now.querySelectorAll(at.what)][at.nth];
    if (again) again.focus({ preventScroll: true });
    opened.forEach((id) => { const el = document.getElementById(id); if (el) el.open = true; });
    now.toggleAttribute("data-live", next.hasAttribute("data-live"));
    plots();
    document.dispatchEvent(new Event("homenode:shown"));
  }

  let timer = 0;
  function addressOf(form) {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value !== "" || form.dataset.keep) query.append(name, value);
    return (form.getAttribute("action") || location.pathname) + "?" + query;
  }
  document.addEventListener("input", (event) => {
    const form = event.target.closest("form[data-swap]");
    if (!form) return;
    clearTimeout(timer);
    if (event.target.matches("[data-alone]")) { // the other fields of the form depend on it
      location.assign(form.getAttribute("action") + "?" + new URLSearchParams([[event.target.name, event.target.value]]));
      return;
    }
    timer = setTimeout(() => show(addressOf(form), true), event.target.matches("select, [type=checkbox]") ? 0 : 350);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-swap]");
    if (!form) return;
    event.preventDefault();
    clearTimeout(timer);
    show(addressOf(form), true);
  });
  plots();
  listen();
})();
