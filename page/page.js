// The page asks its worker, and shows the answers. All that is shown is in the address after #: "#vm=24x512GB+hotAdd%3Don&host=2x16c/768GB" is the
// question without a file, "#/vm?vm=vm-101" a page about the files that were dropped.
(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const main = $("main"), shape = $("shape"), source = $("wasm").textContent, opening = { html: main.innerHTML, ...JSON.parse($("first").textContent) };
  main.replaceChildren();
  const code = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
  const titles = { "/shape": "A VM on a host", "/": "Fleet", "/what-if": "What if", "/plan": "Plan", "/capture": "What happened", "/file": "File" };
  const forms = { csv: "CSV", xlsx: "Excel", json: "JSON", markdown: "Markdown", html: "report" };
  let worker, waiting = new Map(), ids = 0, total = 0, dropped = null, shown = "", asking = 0, running = 0, ready = false, told = []; // told: what of the dropped files could not be read

  // start starts a worker. One that was stopped, or ended, is replaced, and gets the files again; one that cannot start is not.
  const cannot = " It needs WebAssembly and DecompressionStream: Chrome or Edge 97, Firefox 113, Safari 16.4, or later.";
  function start() {
    worker = new Worker(code);
    worker.onmessage = ({ data }) => {
      if (data.ready) {
        ready = true;
        $("about").textContent = "homenode " + data.version;
      } else if (data.ended) {
        restart(ready ? "The analysis ended: " + (data.error || "the browser stopped it") + ". Large files need more memory than this browser gives a page; the homenode command has no such limit." : "The analysis could not start: " + data.error + "." + cannot);
      } else if (data.read !== undefined) {
        progress(data.read);
      } else {
        const ask = waiting.get(data.id);
        waiting.delete(data.id);
        if (ask && data.error !== undefined) ask.no(new Error(data.error));
        else if (ask) ask.yes(data.value);
      }
    };
    worker.onerror = (event) => restart("The analysis could not start: " + (event.message || "this browser cannot run it") + "." + cannot);
    worker.postMessage({ start: source });
  }
  function restart(text) {
    worker.terminate();
    const all = [...waiting.values()];
    waiting.clear();
    if (ready) {
      ready = false;
      start();
      if (dropped) call({ drop: dropped }).catch((error) => fail(error.message));
    }
    all.forEach((ask) => ask.no(new Error(text)));
    if (all.length === 0) fail(text);
  }
  function call(request) {
    return new Promise((yes, no) => {
      const id = ++ids;
      waiting.set(id, { yes, no });
      worker.postMessage({ id, ...request });
    });
  }

  // busy shows that the worker works, when it takes long, until all that was begun is done.
  function busy(text) {
    running++;
    const timer = setTimeout(() => { $("doing").textContent = text; $("bar").removeAttribute("value"); $("progress").hidden = false; }, 300);
    main.setAttribute("aria-busy", "true");
    return () => {
      clearTimeout(timer);
      if (--running > 0) return;
      $("progress").hidden = true;
      main.removeAttribute("aria-busy");
    };
  }
  function progress(read) {
    if (!total) return;
    if (read < total) $("bar").value = read / total; else $("bar").removeAttribute("value"); // then it is judged
    $("doing").textContent = read < total ? "Read " + (read / 1e6).toFixed(0) + " of " + (total / 1e6).toFixed(0) + " MB" : "Working";
  }
  $("stop").addEventListener("click", () => restart("Stopped."));

  // show asks what the address says. Only the last of several questions is shown. What is typed into the sentence stays as it is.
  async function show(typed) {
    const hash = location.hash.slice(1), mine = ++asking;
    if (hash === "/demo") return take(null);
    let address = hash;
    if (!hash.startsWith("/")) {
      if (hash && typed !== true) fill(new URLSearchParams(hash));
      address = "/shape?" + (hash || question());
    }
    if (!hash && shown === "" && question() === opening.question) { // the worker still starts
      shown = address;
      return place(opening, false, true);
    }
    const done = busy("Working"), same = shown.split("?")[0] === address.split("?")[0], first = shown === "";
    try {
      const reply = await call({ address, form: "page" });
      if (mine !== asking) return;
      shown = address;
      await place(reply, same, first);
    } catch (error) {
      if (mine !== asking) return;
      shown = address;
      fail(error.message);
    } finally {
      done();
    }
  }
  function fail(text) {
    const h1 = document.createElement("h1"), p = document.createElement("p");
    h1.textContent = "This did not work";
    p.className = "bad";
    p.textContent = text;
    p.setAttribute("role", "alert");
    main.replaceChildren(h1, p);
    document.title = "This did not work · homenode";
    $("status").textContent = "";
    $("same").hidden = true;
    pages(null);
  }

  // place shows a reply. Where only a table turned or the sentence changed, the view and the focus stay where they were.
  async function place(reply, same, first) {
    const kept = back !== undefined ? back : same ? scrollY : 0, focused = main.contains(document.activeElement) && document.activeElement;
    const again = focused && (focused.name ? `[name="${CSS.escape(focused.name)}"]` : focused.getAttribute("href") ? `a[href="${CSS.escape(focused.getAttribute("href"))}"]` : "button");
    const pictures = lay(reply.html);
    for (const text of [...told, ...reply.tell]) {
      const p = document.createElement("p");
      p.className = "note";
      p.textContent = text;
      main.prepend(p);
    }
    document.title = (reply.title ? reply.title + " · " : "") + "homenode";
    pages(reply.pages);
    offer(reply.command);
    if (focused) (main.querySelector(again) || main).focus({ preventScroll: true });
    else if (!same && !first) main.focus({ preventScroll: true });
    back = undefined;
    scrollTo(0, kept);
    $("status").textContent = main.querySelector("h1") ? main.querySelector("h1").textContent : "";
    await hang(pictures);
    if (scrollY < kept) scrollTo(0, kept); // the page was shorter
  }

  // parsed returns the nodes of HTML.
  function parsed(html) {
    const template = document.createElement("template");
    template.innerHTML = html; // homenode escapes what it read
    for (const el of template.content.querySelectorAll('a[href^="/"]')) el.setAttribute("href", "#" + el.getAttribute("href"));
    return template.content;
  }
  // lay shows an answer. It returns the pictures of a long one, which follow.
  function lay(html) {
    const pictures = [];
    main.replaceChildren(parsed(html.length < 200000 ? html : html.replace(/<figure[^]*?<\/figure>/g, (picture) => { pictures.push(picture); return '<div class="later"></div>'; })));
    return pictures;
  }
  // hang shows the pictures, each parsed in one frame and laid out in the next, so that the page answers meanwhile.
  async function hang(pictures) {
    const gaps = main.querySelectorAll(".later");
    for (const [n, picture] of pictures.entries()) {
      await new Promise(requestAnimationFrame);
      const content = parsed(picture);
      await new Promise(requestAnimationFrame);
      if (!gaps[n].isConnected) return; // another answer is shown
      gaps[n].replaceWith(content);
    }
  }
  let paths = ["/shape"];
  function pages(next) {
    const now = shown.split("?")[0];
    paths = next || paths;
    shape.hidden = now !== "/shape";
    $("drop").hidden = dropped !== null;
    $("find").hidden = !paths.includes("/");
    $("pages").replaceChildren(...paths.map((path) => {
      const a = document.createElement("a");
      a.href = path === "/shape" ? "#" + question() : "#" + path;
      a.textContent = titles[path];
      if (path === now) a.setAttribute("aria-current", "page");
      return a;
    }));
  }

  // offer lists the forms in which the answer can be saved.
  function offer(command) {
    $("same").hidden = !command;
    $("command").textContent = command;
    const path = shown.split("?")[0], all = { ...forms };
    if (path === "/plan") Object.assign(all, { powercli: "PowerCLI script", govc: "govc script", ansible: "Ansible playbook", json: "plan (JSON)" });
    const buttons = Object.entries(all).map(([form, label]) => button(label, async () => {
      const reply = await call({ address: shown, form });
      save(reply.name, reply.data);
    }));
    if (path === "/") buttons.push(button("anonymised snapshot with its key", async () => {
      const both = await call({ snapshot: true });
      save("homenode-snapshot.json", both.snapshot);
      save("homenode-snapshot.key.json", both.key);
    }));
    $("forms").replaceChildren(...buttons);
  }
  function button(label, act) {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = label;
    b.addEventListener("click", async () => {
      const done = busy("Writing");
      try { await act(); } catch (error) { $("status").textContent = error.message; alert(error.message); } finally { done(); }
    });
    return b;
  }
  function save(name, bytes) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes]));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // The sentence: its fields as the shapes that homenode asks for, and back.
  function question() {
    const of = Object.fromEntries([...new FormData(shape)].map(([name, value]) => [name, value.replace(/\s/g, "")]));
    const words = ["hotAdd=" + of.hotAdd, of.cps && "coresPerSocket=" + of.cps].filter(Boolean).join(" ");
    return new URLSearchParams({ vm: of.vcpus + "x" + of.memory + " " + words, host: of.sockets + "x" + of.cores + "c/" + of.hostMemory, release: of.release }).toString();
  }
  function fill(query) {
    const vm = /^(\d*)x(\S+)(.*)$/.exec(query.get("vm") || ""), host = /^(\d*)x(\d*)c\/(\S+)/.exec(query.get("host") || "");
    const set = (name, value) => {
      const field = shape[name];
      if (value !== undefined && (!field.options || [...field.options].some((o) => o.value === value))) field.value = value;
    };
    if (vm) {
      set("vcpus", vm[1]); set("memory", vm[2]);
      set("hotAdd", /hotAdd=(\w+)/.exec(vm[3])?.[1] || "off"); set("cps", /coresPerSocket=(\d+)/.exec(vm[3])?.[1] || "");
    }
    if (host) { set("sockets", host[1]); set("cores", host[2]); set("hostMemory", host[3]); }
    if (query.get("release")) set("release", query.get("release"));
    beyond(query);
  }
  // beyond shows a question that the sentence cannot hold.
  function beyond(query) {
    const now = new URLSearchParams(question()), words = (text) => (text || "").split(/\s+/).sort().join(" ");
    const differs = query && (words(query.get("vm")).replace(/^hotAdd=off | hotAdd=off/, "") !== words(now.get("vm")).replace(/^hotAdd=off | hotAdd=off/, "") || query.get("host") !== now.get("host"));
    $("beyond").hidden = !differs;
    if (differs) $("beyond").textContent = "The link asks for more than this sentence has: " + query.get("vm") + " on " + query.get("host") + ".";
  }
  // What is typed while an answer is awaited is asked after it, once.
  let typed = false, answering = false;
  shape.addEventListener("input", async () => {
    typed = true;
    if (answering) return;
    for (answering = true; typed; await show(true)) {
      typed = false;
      history.replaceState(history.state, "", "#" + question());
      beyond(null);
    }
    answering = false;
  });
  shape.addEventListener("submit", (event) => event.preventDefault());

  $("find").addEventListener("submit", (event) => { event.preventDefault(); if ($("find").elements.name.value.trim()) location.hash = "/find?" + new URLSearchParams(new FormData($("find"))); });

  // Forms of an answer ask it anew. An emptied field stays in the address, which clears its value.
  main.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "get") return;
    event.preventDefault();
    const query = [...new FormData(form)].filter(([name, value]) => value || form.elements[name].defaultValue);
    location.hash = (form.getAttribute("action") || shown.split("?")[0]) + "?" + new URLSearchParams(query);
  });
  // A link inside the answer moves the view and leaves the address, which is the question.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href*="#"]');
    if (!link) return;
    const hash = link.getAttribute("href").slice(link.getAttribute("href").lastIndexOf("#") + 1);
    const target = hash && !hash.startsWith("/") && !hash.includes("=") && $(decodeURIComponent(hash));
    if (!target) return;
    if (link.getAttribute("href").startsWith("#/")) return;
    event.preventDefault();
    for (let el = target; el; el = el.parentElement) if (el.tagName === "DETAILS") el.open = true;
    target.scrollIntoView();
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
  });
  // Back and forward return to the place where the answer was left.
  history.scrollRestoration = "manual";
  const places = new Map(); // entry of the history → place
  let entry = 0, entries = Date.now(), back; // back: the place to return to
  addEventListener("scroll", () => places.set(entry, scrollY), { passive: true });
  addEventListener("hashchange", () => {
    if (!history.state) history.replaceState(++entries, "");
    entry = history.state;
    back = places.get(entry);
    show();
  });

  // take opens files, chosen or dropped anywhere; null is the demo fleet. Files that cannot be read leave those that are open.
  async function take(list) {
    if (list && list.length === 0) return;
    const used = new Set();
    for (const one of list || []) {
      const plain = one.name;
      for (let n = 2; used.has(one.name); n++) one.name = plain.replace(/(\.[^./]*)?$/, " (" + n + ")$1");
      used.add(one.name);
    }
    total = (list || []).reduce((sum, one) => sum + one.file.size, 0);
    const done = busy("Reading"), mine = ++asking, request = list || "demo";
    try {
      const { address, tell, files } = await call({ drop: request });
      dropped = list ? files : request;
      told = tell;
      if (mine !== asking) return pages([...new Set([...paths, "/", "/capture"])]);
      if (list && location.hash !== "#" + address) location.hash = address;
      else {
        history.replaceState(history.state, "", "#" + address);
        await show();
      }
    } catch (error) {
      if (mine === asking) fail(error.message);
    } finally {
      done();
    }
  }
  async function walk(entry, out) {
    if (entry.isFile) out.push({ name: entry.fullPath.slice(1), file: await new Promise((yes, no) => entry.file(yes, no)) });
    else for (let reader = entry.createReader(), some; (some = await new Promise((yes, no) => reader.readEntries(yes, no))).length;) for (const one of some) await walk(one, out);
  }
  async function walkHandle(handle, above, out) {
    if (handle.kind === "file") out.push({ name: above + handle.name, file: await handle.getFile() });
    else for await (const one of handle.values()) await walkHandle(one, above + handle.name + "/", out);
  }
  $("file").addEventListener("change", (event) => { take([...event.target.files].map((file) => ({ name: file.name, file }))); event.target.value = ""; });
  document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("over"); });
  document.addEventListener("dragleave", () => document.body.classList.remove("over"));
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    // The list is empty after the first await. Entries do not open files in Chrome when the page itself is a file; handles do, and only Chrome has them.
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file").map((item) => ({
      file: item.getAsFile(), entry: item.webkitGetAsEntry(), handle: item.getAsFileSystemHandle && item.webkitGetAsEntry()?.isDirectory && item.getAsFileSystemHandle(),
    }));
    const out = [];
    try {
      for (const { file, entry, handle } of items) {
        if (!entry || entry.isFile) out.push({ name: file.name, file });
        else if (handle) await walkHandle(await handle, "", out);
        else await walk(entry, out);
      }
    } catch (error) {
      return fail("The folder cannot be read (" + error.message + "). Drop its files, or an archive of it.");
    }
    take(out);
  });

  try {
    start();
    show();
  } catch (error) {
    fail("The analysis could not start: " + error.message + "." + cannot);
  }
})();
