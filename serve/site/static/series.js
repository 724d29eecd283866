// Draws the past of a VM so that it can be pointed at and zoomed, in the place of the drawing of the server, which stays for
// readers without scripts and for paper.
(function () {
  "use strict";
  const zone = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const utc = (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC");
  // clock writes the moments of an axis: dates at midnight, seconds only where they matter.
  const clock = (u, splits, axis, space, step) => splits.map((v) => {
    const t = new Date(v * 1000).toISOString();
    if (step >= 86400 || v % 86400 === 0) return Number(t.slice(8, 10)) + " " + zone.formatToParts(new Date(v * 1000)).find((p) => p.type === "month").value;
    return t.slice(11, step < 60 ? 19 : 16);
  });
  const percent = (v) => (v == null ? "–" : (100 * v).toFixed(v < 0.1 ? 1 : 0) + " %");
  const size = (v) => {
    if (v == null) return "–";
    let i = 0;
    for (; v >= 1024 && i < 4; i++) v /= 1024;
    return v.toFixed(v < 10 && v > 0 ? 1 : 0) + " " + ["B", "KB", "MB", "GB", "TB"][i];
  };
  const plots = [];
  let drawn = false; // the reader wants the drawing of the server

  // colours are those of the page, in the reader's mode.
  function colours() {
    const page = getComputedStyle(document.documentElement);
    return { ink: page.getPropertyValue("--ink"), soft: page.getPropertyValue("--soft"), line: page.getPropertyValue("--line"), link: page.getPropertyValue("--link"), high: page.getPropertyValue("--high"), mark: page.getPropertyValue("--medium") };
  }

  // events draws what happened as lines through a plot; the first one says in words what.
  function events(data, c, words) {
    return (u) => {
      const ctx = u.ctx, ratio = devicePixelRatio;
      ctx.save();
      ctx.font = 11 * ratio + "px system-ui, sans-serif";
      ctx.fillStyle = ctx.strokeStyle = c.mark;
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.textAlign = "left";
      ctx.textBaseline = "bottom";
      let end = -Infinity;
      for (const e of data.events) {
        if (e.time < u.scales.x.min || e.time > u.scales.x.max) continue;
        const x = Math.round(u.valToPos(e.time, "x", true));
        ctx.beginPath();
        ctx.moveTo(x, u.bbox.top);
        ctx.lineTo(x, u.bbox.top + u.bbox.height);
        ctx.stroke();
        const wide = ctx.measureText(e.text).width;
        const left = Math.min(x + 4 * ratio, u.bbox.left + u.bbox.width - wide);
        if (!words || left < end) continue;
        ctx.fillText(e.text, left, u.bbox.top - 4 * ratio);
        end = left + wide + 8 * ratio;
      }
      ctx.restore();
    };
  }

  // charts says what is drawn: for each its title, columns and axes.
  function charts(data, c) {
    const faint = { stroke: c.mark, width: 1, dash: [4, 4], points: { show: false } };
    const line = (label, stroke, value, more) => Object.assign({ label, stroke, width: 1.6, value: (u, v) => value(v), points: { show: false } }, more);
    const node = (v) => (v == null ? "–" : "yes");
    const looks = [c.link, c.mark, c.high, c.soft];
    return [
      { title: "Locality (N%L)", columns: [data.locality, data.least, data.time.map((t, i) => (data.locality[i] == null ? null : data.limit))], axis: percent, range: [0, 1],
        series: [line("mean", c.link, percent, { fill: c.link + "22" }), line("lowest", c.high, percent, { width: 1, dash: [2, 3] }), Object.assign({ label: "low below", value: (u, v) => percent(v) }, faint)] },
      { title: "Home nodes", columns: data.homes, axis: (v) => (Number.isInteger(v) ? "node " + v : ""), range: [Math.min(...data.nodes, 0) - 0.5, Math.max(...data.nodes, 1) + 0.5], tall: 26 + 18 * data.nodes.length, step: 1, incrs: [1, 2, 4, 8],
        series: data.nodes.map((n, i) => line("node " + n, looks[i % looks.length], node, { width: 8, paths: uPlot.paths.stepped({ align: 1 }) })) },
      { title: "Memory", columns: [data.local, data.remote], axis: size, incrs: Array.from({ length: 32 }, (_, i) => 2 ** (i + 16)), range: (u, min, max) => [0, max > 0 ? max * 1.05 : 1],
        series: [line("local", c.link, size, { fill: c.link + "22" }), line("remote", c.high, size, { dash: [6, 3] })] },
      { title: "Ready, of each vCPU's time", columns: [data.ready], axis: percent, range: (u, min, max) => [0, Math.max(max * 1.1, 0.02)], series: [line("ready", c.link, percent, { fill: c.link + "22" })] },
      { title: "NUMA migrations", columns: [data.migrations], axis: (v) => (Number.isInteger(v) ? v : ""), range: (u, min, max) => [0, Math.max(max, 1) * 1.1], tall: 70,
        series: [line("migrations", c.ink, (v) => (v == null ? "–" : v), { paths: uPlot.paths.bars({ size: [1, 4, 2] }) })] },
    ].filter((chart) => chart.columns.some((column) => column && column.some((v) => v != null)));
  }

  function draw(figure, place, data) {
    const c = colours(), narrow = place.clientWidth < 600;
    plots.splice(0).forEach((u) => u.destroy());
    place.replaceChildren();
    const sync = { key: "time", setSeries: false };
    charts(data, c).forEach((chart, nth, all) => {
      const head = document.createElement("p");
      head.textContent = chart.title;
      place.append(head);
      const box = document.createElement("div");
      place.append(box);
      const frame = { stroke: c.soft, grid: { stroke: c.line, width: 1 }, ticks: { stroke: c.line, width: 1 }, font: "11px system-ui, sans-serif" };
      const u = new uPlot({
        width: place.clientWidth, height: (chart.tall || (narrow ? 96 : 110)) + (nth < all.length - 1 ? 0 : 20) + (nth ? 0 : 12), tzDate: utc, padding: [nth ? 6 : 18, 8, 0, 0],
        cursor: { sync, drag: { x: true, y: false }, points: { size: 6 } }, legend: { live: true },
        scales: { x: { time: true, min: data.from, max: data.to }, y: { range: chart.range } },
        axes: [Object.assign(nth < all.length - 1 ? { size: 6, values: () => [] } : { size: 26, values: clock }, frame), Object.assign({ size: 62, space: chart.step ? 14 : 28, incrs: chart.incrs, values: (u, all) => all.map(chart.axis) }, frame)],
        series: [{ label: "At", value: (u, v) => (v == null ? "–" : zone.format(new Date(v * 1000)) + " UTC") }].concat(chart.series),
        hooks: { draw: [events(data, c, nth === 0)] },
      }, [data.time].concat(chart.columns), box);
      plots.push(u);
      u.root.querySelector("canvas").setAttribute("aria-hidden", "true");
    });
  }

  // show draws the figure that the page has, if it has one.
  async function show() {
    const figure = location.pathname === "/vm" && document.getElementById("over-time");
    if (!figure) return;
    let data;
    try {
      const response = await fetch("/vm/series" + location.search);
      if (!response.ok) return;
      data = await response.json();
    } catch (error) {
      return; // the drawing of the server stands
    }
    if (!figure.isConnected) return;
    const zoomed = plots.length ? [plots[0].scales.x.min, plots[0].scales.x.max, plots[0].homenode] : null;
    let place = figure.querySelector(".plots");
    if (!place) {
      place = document.createElement("div");
      place.className = "plots";
      figure.append(place);
    }
    let turn = figure.querySelector("button.drawn");
    if (!turn) {
      turn = document.createElement("button");
      turn.type = "button";
      turn.className = "drawn";
      turn.addEventListener("click", () => { drawn = !drawn; show(); });
      figure.insertBefore(turn, figure.querySelector(".scroll"));
    }
    turn.textContent = drawn ? "Show chart that zooms" : "Show accessible chart";
    figure.classList.toggle("plotted", !drawn);
    place.hidden = drawn;
    if (drawn) return;
    draw(figure, place, data);
    const key = location.search;
    plots.forEach((u) => (u.homenode = { key, from: data.from, to: data.to }));
    if (zoomed && zoomed[2] && zoomed[2].key === key && (zoomed[0] !== zoomed[2].from || zoomed[1] !== zoomed[2].to)) plots.forEach((u) => u.setScale("x", { min: zoomed[0], max: zoomed[1] }));
  }
  document.addEventListener("homenode:shown", show);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  let wide = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== wide) { wide = innerWidth; show(); } });
  show();
})();
