// Every page is complete without this script. It shows what a form asks while it is typed, without loading the page, and
// fetches what is live again when the server says that it has changed.
(function () {
  "use strict";
  const main = () => document.getElementById("main");
  let running = null;

  // show fetches a page of this site and puts its content in the place of this one's.
  async function show(address, push) {
    if (running) running.abort();
    const mine = (running = new AbortController());
    main().setAttribute("aria-busy", "true");
    try {
      const response = await fetch(address, { signal: mine.signal, headers: { "X-Part": "main" } });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      swap(page);
      if (push) history.replaceState(null, "", address);
    } catch (error) {
      if (error.name !== "AbortError") location.assign(address);
      return;
    } finally {
      if (running === mine) main().removeAttribute("aria-busy");
    }
  }

  // swap replaces everything in main but the form that has the focus: what somebody types stays.
  function swap(page) {
    const now = main(), next = page.getElementById("main"), focused = document.activeElement;
    const form = focused && focused.closest && focused.closest("#main form");
    const opened = [...now.querySelectorAll("details[open][id]")].map((el) => el.id);
    const same = form && [...next.querySelectorAll("form")].find((el) => el.getAttribute("action") === form.getAttribute("action") && el.className === form.className && el.getAttribute("aria-label") === form.getAttribute("aria-label"));
    if (same) same.replaceWith(form);
    document.title = page.title;
    now.replaceChildren(...next.childNodes);
    if (form) focused.focus({ preventScroll: true });
    opened.forEach((id) => { const el = document.getElementById(id); if (el) el.open = true; });
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
    timer = setTimeout(() => show(addressOf(form), true), event.target.matches("select, [type=checkbox]") ? 0 : 350);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-swap]");
    if (!form) return;
    event.preventDefault();
    clearTimeout(timer);
    show(addressOf(form), true);
  });
})();
