// Plays drawings over time: a slider over all drawings of a page, and jumps to what was decided. Without it the drawings and the table of
// decisions stand side by side.
(function () {
  "use strict";
  const seconds = (text) => {
    const m = /(\d{1,2}):(\d{2})(?::(\d{2}))?/.exec(text);
    return m ? +m[1] * 3600 + +m[2] * 60 + +(m[3] || 0) : null;
  };
  const day = 86400;
  // stretches returns the stretches of a drawing: when each begins, in seconds since the first, and what it holds.
  function stretches(svg) {
    let last = null, days = 0;
    return [...svg.querySelectorAll("g.slice")].map((g) => {
      const title = (g.querySelector("title") || {}).textContent || "";
      let at = seconds(title);
      if (at === null) return null;
      if (last !== null && at < last - 1) days++;
      last = at;
      return { g, at: at + days * day, title };
    }).filter(Boolean);
  }

  function build() {
    const place = document.getElementById("drawings");
    if (!place || place.querySelector(".player")) return;
    const drawn = [...place.querySelectorAll("svg.timeline")].map((svg) => ({ name: (svg.querySelector("title") || {}).textContent || "", all: stretches(svg) })).filter((d) => d.all.length > 1);
    if (!drawn.length) return;
    const times = [...new Set(drawn.flatMap((d) => d.all.map((s) => s.at)))].sort((a, b) => a - b);
    const begin = times[0];
    const decisions = [...document.querySelectorAll("#table-decisions tbody th")];
    const decided = [...new Set(decisions.map((th) => seconds(th.textContent)).filter((s) => s !== null).map((s) => (s < begin ? s + day : s)))].sort((a, b) => a - b);
    const words = (name, text, more) => { const el = document.createElement(name); el.textContent = text; Object.assign(el, more || {}); return el; };
    const box = document.createElement("div");
    box.className = "player";
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Time line");
    const play = words("button", "Play", { type: "button" });
    const before = words("button", "Decision before", { type: "button" }), after = words("button", "Next decision", { type: "button" });
    const label = document.createElement("label");
    const range = Object.assign(document.createElement("input"), { type: "range", min: 0, max: times.length - 1, value: 0, step: 1 });
    label.append(words("span", "Time", { className: "hide" }), range);
    const clock = document.createElement("output"), said = words("p", "", { className: "said" });
    box.append(play, before, after, label, clock, said);
    place.prepend(box);

    let index = 0, running = 0;
    const text = (at) => { const s = at % day; return String(Math.floor(s / 3600)).padStart(2, "0") + ":" + String(Math.floor(s / 60) % 60).padStart(2, "0") + (s % 60 ? ":" + String(s % 60).padStart(2, "0") : ""); };
    function go(to) {
      index = Math.max(0, Math.min(times.length - 1, to));
      range.value = index;
      const at = times[index], holds = [];
      for (const d of drawn) {
        let here = null;
        for (const s of d.all) { if (s.at <= at) here = s; s.g.classList.remove("now"); }
        if (here) { here.g.classList.add("now"); holds.push(d.name.replace(/ over time.*$/, "") + ": " + here.title.replace(/^[^:]*:\d\d(:\d\d)? to [^:]*:\d\d(:\d\d)?: /, "")); }
      }
      clock.textContent = text(at) + (at >= begin + day ? " +" + Math.floor((at - begin) / day) + " d" : "");
      range.setAttribute("aria-valuetext", clock.textContent);
      said.textContent = holds[0] || "";
    }
    const indexOf = (at) => { let i = 0; while (i + 1 < times.length && times[i + 1] <= at) i++; return i; };
    function stop() { clearInterval(running); running = 0; play.textContent = "Play"; }
    play.addEventListener("click", () => {
      if (running) return stop();
      if (index === times.length - 1) go(0);
      play.textContent = "Pause";
      running = setInterval(() => { if (!box.isConnected || index === times.length - 1) return stop(); go(index + 1); }, 400);
    });
    range.addEventListener("input", (e) => { e.stopPropagation(); stop(); go(+range.value); });
    const jump = (by) => {
      stop();
      const now = times[index], until = index + 1 < times.length ? times[index + 1] : Infinity;
      const found = by > 0 ? decided.find((t) => t >= until) : decided.filter((t) => t < now).pop();
      if (found !== undefined) go(indexOf(found));
    };
    before.addEventListener("click", () => jump(-1));
    after.addEventListener("click", () => jump(1));
    before.hidden = after.hidden = decided.length === 0;
    decisions.forEach((th) => {
      const at = seconds(th.textContent);
      if (at === null) return;
      const jump = words("button", th.textContent, { type: "button", className: "moment" });
      jump.addEventListener("click", () => { stop(); go(indexOf(at < begin ? at + day : at)); place.scrollIntoView(); });
      th.replaceChildren(jump);
    });
    const asked = document.querySelector("#main input[name=moment]");
    const at = asked ? seconds(asked.value) : null;
    go(at === null ? 0 : indexOf(at < begin ? at + day : at));
  }
  document.addEventListener("homenode:shown", build);
  build();
})();
