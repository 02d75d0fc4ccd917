"use strict";
(() => {
  document.documentElement.classList.add("js");

  // Tables: a header's button sorts the rows, or the bodies of a table that has
  // one for each claim; a third click restores the order.

  // key is what a row or body is sorted by: a number where it begins with one.
  const key = (unit, column) => {
    if (unit.tagName === "TBODY") return column === 0 ? unit.dataset.claim : Number(unit.dataset.rank);
    const cell = unit.cells[column];
    const text = (cell.dataset.sort ?? cell.textContent).trim().replace(/^−/, "-");
    const n = parseFloat(text);
    return Number.isNaN(n) || text === "" ? text : n;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b);
  };
  const sortable = table => {
    const grouped = table.classList.contains("grouped");
    const units = grouped ? [...table.tBodies] : [...table.tBodies[0].rows];
    const parent = grouped ? table : table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (grouped && column > 0 && column < heads.length - 1) return; // of one test among several
      const button = document.createElement("span"); // browsers leave a button out of the header that they print on every page
      button.className = "sort";
      button.setAttribute("role", "button");
      button.tabIndex = 0;
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("keydown", e => {
        if (e.key !== "Enter" && e.key !== " ") return;
        e.preventDefault();
        button.click();
      });
      button.addEventListener("click", () => {
        const order = {ascending: "descending", descending: "none"}[head.ariaSort] ?? "ascending";
        heads.forEach(h => h.removeAttribute("aria-sort"));
        const sorted = [...units];
        if (order !== "none") {
          head.ariaSort = order;
          const sign = order === "ascending" ? 1 : -1;
          const empty = k => k === "" || k === "—";
          sorted.sort((a, b) => {
            const x = key(a, column), y = key(b, column);
            return empty(x) || empty(y) ? empty(x) - empty(y) : sign * compare(x, y);
          });
        }
        parent.append(...sorted);
      });
    });
  };
  document.querySelectorAll("table.sortable").forEach(sortable);

  // A link into something folded opens it.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  // What is folded is printed.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach(d => d.open = true);
  });
  addEventListener("afterprint", () => folded.forEach(d => d.open = false));

  // Curves. A chart is a panel of package plot, and a sample of a curve is [x, mean, low, high].

  const xlabel = "samples processed";
  const digits = v => Math.abs(v) >= 1000 ? Math.round(v).toLocaleString("en") : String(+v.toPrecision(4));
  const short = v => v >= 1e6 ? v / 1e6 + " M" : v >= 1000 ? v / 1000 + " k" : String(+v.toPrecision(3));

  // logTicks are round numbers on a logarithmic axis, few on a long one.
  const logTicks = (low, high) => {
    const steps = high / low < 4 ? [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9] : high / low < 100 ? [1, 2, 5] : [1];
    const out = [];
    for (let k = Math.floor(Math.log10(low)); k <= Math.log10(high); k++)
      for (const m of steps) {
        const v = +(m * 10 ** k).toPrecision(3);
        if (v >= low && v <= high) out.push(v);
      }
    return out;
  };

  // range is the range of an axis: what is shown, and a margin.
  const range = (values, log) => {
    const shown = values.filter(v => v !== null && v !== undefined && (!log || v > 0));
    if (!shown.length) return log ? [1, 10] : [0, 1];
    const low = Math.min(...shown), high = Math.max(...shown);
    if (!log) return [Math.min(0, low), (high || 1) * 1.06];
    const margin = Math.max(1.08, (high / low) ** 0.04, Math.sqrt(2 * low / high));
    return [low / margin, high * margin];
  };

  // columns are the aligned columns of a chart: x, then mean, low and high of
  // each line.
  const columns = c => {
    const data = uPlot.join(c.Traces.map(l => [0, 1, 2, 3].map(k => l.Curve.map(s => s[k]))));
    c.Traces.forEach((l, i) => {
      if (l.Flat) for (const k of [1, 2, 3]) data[3 * i + k] = data[0].map(() => l.Curve[0][k]);
    });
    return data;
  };

  const css = (color, alpha = "") => `rgb(${color.R} ${color.G} ${color.B}${alpha})`;

  // drawStated draws the values that the paper prints and states.
  const drawStated = (u, c, hidden) => {
    const ctx = u.ctx, {left, top, width, height} = u.bbox, px = devicePixelRatio;
    const y = v => u.valToPos(v, "y", true), x = v => u.valToPos(v, "x", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    for (const l of c.Traces) {
      if (hidden.has(l.Label)) continue;
      ctx.strokeStyle = ctx.fillStyle = css(l.Color);
      ctx.lineWidth = px;
      for (const v of l.Levels ?? []) {
        ctx.setLineDash([px, 3 * px]);
        ctx.beginPath();
        ctx.moveTo(left, y(v));
        ctx.lineTo(left + width, y(v));
        ctx.stroke();
        ctx.beginPath();
        ctx.moveTo(left + width - 7 * px, y(v));
        ctx.lineTo(left + width, y(v) - 4 * px);
        ctx.lineTo(left + width, y(v) + 4 * px);
        ctx.fill();
      }
    }
    ctx.setLineDash([]);
    for (const m of c.Marks ?? []) {
      ctx.strokeStyle = css(m.Look.Color);
      ctx.fillStyle = "#fff";
      ctx.lineWidth = 1.4 * px;
      ctx.beginPath();
      ctx.moveTo(x(m.X), y(m.Low));
      ctx.lineTo(x(m.X), y(m.High));
      ctx.stroke();
      for (const v of new Set([m.Low, m.High])) {
        const r = 5 * px, a = x(m.X), b = y(v);
        ctx.beginPath();
        ctx.moveTo(a - r, b); ctx.lineTo(a, b - r); ctx.lineTo(a + r, b); ctx.lineTo(a, b + r);
        ctx.closePath();
        ctx.fill();
        ctx.stroke();
      }
    }
    ctx.restore();
  };

  // swatch is a piece of a line as it is drawn.
  const swatch = l => {
    const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"), line = document.createElementNS(ns, "line");
    for (const [k, v] of Object.entries({width: 28, height: 8, "aria-hidden": "true"})) svg.setAttribute(k, v);
    for (const [k, v] of Object.entries({x1: 0, x2: 28, y1: 4, y2: 4, stroke: css(l.Color), "stroke-width": 2 * l.Width, "stroke-dasharray": (l.Dash ?? []).join(" ")})) line.setAttribute(k, v);
    svg.append(line);
    return svg;
  };

  // readout writes the values of the shown lines at an index, at the end
  // without one.
  const readout = (table, u, c, hidden) => {
    const at = u.cursor.idx ?? u.data[0].length - 1;
    table.caption.textContent = `at ${digits(u.data[0][at])} ${xlabel}`;
    const body = table.tBodies[0];
    body.replaceChildren();
    c.Traces.forEach((l, i) => {
      if (hidden.has(l.Label)) return;
      let k = at;
      while (k > 0 && u.data[3 * i + 1][k] === undefined) k--;
      const [mean, low, high] = [1, 2, 3].map(j => u.data[3 * i + j][k]);
      const row = body.insertRow(), name = document.createElement("th");
      name.scope = "row";
      name.append(swatch(l), " " + l.Label);
      row.append(name);
      row.insertCell().textContent = mean === null || mean === undefined ? "—" : digits(mean);
      row.insertCell().textContent = low < high ? `[${digits(low)}, ${digits(high)}]` : "";
    });
  };

  // axis is an axis in the letters and lines of all plots.
  const axis = (log, own) => ({
    stroke: "#1b1b1b", font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", labelSize: 18,
    grid: {stroke: "#e4e4e4", width: 1}, ticks: {stroke: "#767676", width: 1, size: 4}, values: (u, s) => s.map(short),
    ...log && {splits: (u, i, low, high) => logTicks(low, high), filter: (u, s) => s}, ...own});

  // curves are the series and bands of a chart, in the order of its columns.
  const curves = c => {
    const series = [{}], bands = [];
    c.Traces.forEach((l, i) => {
      series.push({label: l.Label, stroke: css(l.Color), width: 1.4 * l.Width, dash: l.Dash?.map(d => 1.4 * d), points: {show: l.Curve.length === 1}});
      for (let k = 0; k < 2; k++) series.push({stroke: "transparent", width: 0, points: {show: false}});
      if (l.Curve.some(s => s[3] > s[2])) bands.push({series: [3 * i + 3, 3 * i + 2], fill: css(l.Color, " / 22%")});
    });
    return {series, bands};
  };

  // visible are the values that the y axis has to hold.
  const visible = (u, c, hidden) => [
    ...c.Traces.flatMap((l, i) => hidden.has(l.Label) ? [] : [1, 2, 3].flatMap(k => u.data[3 * i + k]).concat(l.Levels ?? [])),
    ...(c.Marks ?? []).flatMap(m => [m.Low, m.High]),
  ];

  // plot draws a chart and returns what shows and hides a method in it.
  const plot = (parent, c, hidden, group) => {
    const box = document.createElement("div"), title = document.createElement("h4"), area = document.createElement("div"), table = document.createElement("table");
    box.className = "plot";
    title.textContent = c.Title.slice(0, 3) + " " + c.YLabel; // (a) test risk
    area.className = "area";
    area.tabIndex = 0;
    area.setAttribute("role", "img");
    area.setAttribute("aria-label", title.textContent + "; the arrow keys read values off");
    table.className = "readout";
    table.createCaption();
    table.createTBody();
    table.setAttribute("aria-live", "polite");
    box.append(title, area, table);
    parent.append(box);

    const u = new uPlot({
      width: area.clientWidth || 300, height: 240, legend: {show: false},
      cursor: {sync: {key: group}, drag: {x: true, y: false}, points: {show: (u, i) => i % 3 === 1}},
      scales: {
        x: {time: false, distr: c.LogX ? 3 : 1},
        y: {distr: c.LogY ? 3 : 1, range: u => range(visible(u, c, hidden), c.LogY)},
      },
      axes: [axis(c.LogX, {label: xlabel, size: 30}), axis(c.LogY, {size: 52})],
      ...curves(c),
      hooks: {
        draw: [u => drawStated(u, c, hidden)],
        setCursor: [u => readout(table, u, c, hidden)],
        ready: [u => readout(table, u, c, hidden)],
      },
    }, columns(c), area);

    area.addEventListener("keydown", e => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[e.key];
      if (!step) return;
      e.preventDefault();
      const n = u.data[0].length, at = Math.min(n - 1, Math.max(0, (u.cursor.idx ?? (step > 0 ? -1 : n)) + step));
      u.setCursor({left: u.valToPos(u.data[0][at], "x"), top: u.bbox.height / devicePixelRatio / 2});
    });
    new ResizeObserver(() => { if (area.clientWidth) u.setSize({width: area.clientWidth, height: 240}); }).observe(area);
    return () => {
      u.batch(() => c.Traces.forEach((l, i) => {
        for (let k = 1; k <= 3; k++) u.setSeries(3 * i + k, {show: !hidden.has(l.Label)});
      }));
      u.redraw(true, true);
      readout(table, u, c, hidden);
    };
  };

  // figure draws the charts of a figure under the buttons that hide and show
  // its methods.
  const figure = (fig, charts) => {
    const parent = fig.querySelector(".charts"), tools = document.createElement("div"), plots = document.createElement("div");
    tools.className = "tools";
    tools.setAttribute("role", "group");
    tools.setAttribute("aria-label", "Shown methods");
    plots.className = "plots";
    fig.classList.add("charted");
    parent.append(tools, plots);
    const hidden = new Set(), lines = new Map(charts.flatMap(c => c.Traces).map(l => [l.Label, l]));
    const refresh = charts.map(c => plot(plots, c, hidden, fig.id));
    const toggle = (className, pressed, content, act) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = className;
      button.ariaPressed = String(pressed);
      button.append(...content);
      button.addEventListener("click", () => {
        const on = button.ariaPressed !== "true";
        button.ariaPressed = String(on);
        act(on);
      });
      tools.append(button);
    };
    for (const [label, l] of lines)
      toggle("series", true, [swatch(l), label], on => {
        on ? hidden.delete(label) : hidden.add(label);
        refresh.forEach(f => f());
      });
    if (fig.querySelector(".static")) toggle("to-print", false, ["printed picture"], on => fig.classList.toggle("printed", on));
  };
  const charts = JSON.parse(document.getElementById("charts").textContent) ?? [];
  for (const fig of document.querySelectorAll("figure[data-charts]")) {
    try {
      figure(fig, charts[fig.dataset.charts]);
    } catch (err) { // the picture stays in its place
      fig.classList.remove("charted");
      fig.querySelector(".charts").replaceChildren();
      console.error(err);
    }
  }
})();
