"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const names = data.configurations, runs = data.runs, byId = id => document.getElementById(id);

  // ------------------------------------------------------------------ tables

  sortable(".grid:not(#runs-table)");

  const seconds = s => s === null ? "-" : s >= 100 ? s.toFixed(0) : s >= 10 ? s.toFixed(1) : s >= 1 ? s.toFixed(2) : s >= 0.1 ? s.toFixed(2) : s.toFixed(3);
  const share = s => s === null ? "-" : s === 0 ? "0 %" : `${(100 * Math.max(s, 0.0005)).toFixed(1)} %`;
  const plain = v => v === null ? "-" : String(v);

  const OUTCOME = data.columns.findIndex(([name]) => name === "outcome");

  function runsTable() {
    const holder = byId("runs-table");
    const columns = data.columns.map(([name, kind, format]) => ({name, kind, format: {seconds, share, plain}[format] || plain}));
    const table = document.createElement("table"), head = table.createTHead().insertRow(), scroll = document.createElement("div");
    table.createTBody();
    table.createCaption().textContent = "All runs";
    for (const column of columns) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.className = column.kind;
      cell.textContent = column.name;
      head.append(cell);
    }
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "All runs");
    scroll.append(table);
    holder.append(scroll);
    const value = (i, c) => {
      const raw = runs[c][i];
      const list = data.lists[c];
      return list ? list[raw] : raw;
    };
    const rows = runs[0].map((_, i) => ({
      find: () => columns.map((column, c) => column.kind === "number" ? "" : value(i, c)).join(" ").toLowerCase(),
      key: c => value(i, c),
      element: () => {
        const row = document.createElement("tr");
        columns.forEach((column, c) => {
          const cell = document.createElement(c ? "td" : "th"), text = document.createElement("bdi");
          if (!c) cell.scope = "row";
          cell.className = column.kind;
          text.textContent = column.format(value(i, c));
          cell.append(text);
          row.append(cell);
        });
        if (["WRONG", "ERROR"].includes(value(i, OUTCOME))) row.className = "bad";
        return row;
      },
    }));
    new Grid(holder, columns, rows, true);
  }
  runsTable();

  // ----------------------------------------------------------------- figures

  if (!window.Plotly) return;
  const outcomes = data.lists[OUTCOME], closed = i => ["proved", "infeasible"].includes(outcomes[COLUMN.outcome[i]]);
  const COLUMN = Object.fromEntries(data.columns.map(([name], c) => [name, runs[c]]));
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const MARKS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star", "pentagon"];
  // plotly reads names as markup.
  const escaped = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const short = (text, most = 34) => escaped(text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const colour = c => data.colours[c % data.colours.length];
  const look = c => ({
    line: {color: colour(c), dash: DASHES[c % DASHES.length], width: 2},
    marker: {color: colour(c), symbol: MARKS[c % MARKS.length], size: 7},
  });
  const shown = c => c < data.most ? true : "legendonly";
  let paper = false;  // while it is printed

  function theme() {
    const style = getComputedStyle(document.documentElement), light = paper;
    const get = (name, printed) => light ? printed : style.getPropertyValue(name).trim();
    return {ground: get("--ground", "#fff"), ink: get("--ink", "#000"), line: get("--line", "#ccc"), faint: get("--faint", "#555")};
  }

  function layout(more) {
    const t = theme(), axis = {gridcolor: t.line, zerolinecolor: t.line, linecolor: t.faint};
    const {xaxis, yaxis, ...rest} = more;
    return {
      paper_bgcolor: t.ground, plot_bgcolor: t.ground, font: {color: t.ink, size: 12, family: "system-ui, sans-serif"},
      margin: {l: 55, r: 12, t: 30, b: 45}, hovermode: "closest", height: 370,
      hoverlabel: {bgcolor: t.ground, bordercolor: t.line, font: {color: t.ink}},
      legend: {orientation: "h", y: -0.2, yanchor: "top", x: 0, itemwidth: 42, font: {size: 11}},
      xaxis: {...axis, ...xaxis, title: {standoff: 6, ...xaxis.title}}, yaxis: {...axis, automargin: true, ...yaxis}, ...rest,
    };
  }

  // Of the library's buttons only those that keep everything on this page.
  const config = {displaylogo: false, responsive: true, modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]], toImageButtonOptions: {format: "svg"}};
  const log = title => ({type: "log", title: {text: title}, tickformat: "~g"});

  // Powers of ten alone, or where there are few of them 1, 2 and 5 as well.
  function ticks(traces, side) {
    let low = Infinity, high = 0;
    for (const trace of traces) {
      for (const value of trace[side]) {
        if (value > 0) [low, high] = [Math.min(low, value), Math.max(high, value)];
      }
    }
    return high < 100 * low ? "D2" : 1;
  }

  const select = (id, options, chosen) => {
    const element = byId(id);
    options.forEach((text, i) => element.add(new Option(text, i, i === chosen, i === chosen)));
    return element;
  };

  const lines = (each, makes) => names.map((name, c) => each[c] && {
    ...makes(each[c]), ...look(c), name: short(name), visible: shown(c), text: undefined,
  }).filter(Boolean);

  // Of very many points every n-th is drawn, and the last.
  const MOST = 1500;
  const nth = count => Math.max(1, Math.ceil(count / MOST));
  const thinned = list => list.filter((_, i) => i % nth(list.length) === 0 || i === list.length - 1);
  const told = count => nth(count) > 1 ? ` (one in ${nth(count)} drawn)` : "";

  function cactus() {
    return [lines(data.cactus, times => ({x: thinned(times.map((_, i) => i + 1)), y: thinned(times), mode: times.length > 60 ? "lines" : "lines+markers", hovertemplate: "%{x} proved within %{y:.3~g} s each"})),
      layout({xaxis: {title: {text: "cases proved"}, rangemode: "tozero"}, yaxis: log("seconds")})];
  }

  function profile() {
    const total = data.cases;
    return [lines(data.profile, ratios => ({x: [...thinned(ratios), data.last], y: [...thinned(ratios.map((_, i) => (i + 1) / total)), ratios.length / total], mode: "lines", hovertemplate: "%{y:.1%} within %{x:.3~g} times the fastest"})).map(trace => ({...trace, line: {...trace.line, shape: "hv"}})),
      layout({xaxis: log("times the fastest proof"), yaxis: {title: {text: "share of cases"}, range: [0, 1.03], tickformat: ".0%"}})];
  }

  const anytime = which => () => [
    lines(data.anytime[which], y => ({x: data.anytime.seconds, y, mode: "lines", hovertemplate: "%{y:.1%} away after %{x:.3~g} s"})),
    layout({xaxis: log("seconds"), yaxis: {title: {text: "mean distance"}, range: [-0.02, 1.03], tickformat: ".0%"}}),
  ];

  const instance = select("instance", data.instances, data.central);
  const cases = new Map();  // the runs of each instance
  COLUMN.instance.forEach((name, i) => { if (!cases.has(name)) cases.set(name, []); cases.get(name).push(i); });

  function single() {
    const seen = new Set(), traces = [];
    for (const i of cases.get(Number(instance.value)) || []) {
      const c = COLUMN.configuration[i], [times, values, bounds] = data.traces[i], first = !seen.has(c);
      if (!times.length) continue;
      seen.add(c);
      const own = {...look(c), name: short(names[c]), legendgroup: String(c), x: times, mode: "lines", visible: shown(c)};
      traces.push({...own, y: values, showlegend: first, line: {...own.line, shape: "hv"}, hovertemplate: "value %{y} after %{x:.3~g} s"});
      traces.push({...own, y: bounds, showlegend: false, line: {...own.line, shape: "hv", width: 1}, hovertemplate: "bound %{y} after %{x:.3~g} s"});
      if (closed(i) && values.at(-1) !== null) traces.push({...own, x: times.slice(-1), y: values.slice(-1), showlegend: false, mode: "markers", marker: {...own.marker, size: 10}, hovertemplate: "proved: %{y} after %{x:.3~g} s"});
    }
    return [traces, layout({xaxis: log("seconds"), yaxis: {title: {text: "value (thick), bound (thin)"}}})];
  }

  const across = select("across", names, 0), upwards = select("upwards", names, Math.min(1, names.length - 1));

  function scatter() {
    const [a, b] = [Number(across.value), Number(upwards.value)], spots = new Map();
    COLUMN.configuration.forEach((c, i) => {
      if (c !== a && c !== b) return;
      const spot = spots.get(data.case[i]) || {name: COLUMN.instance[i]};
      if (c === a) spot.x = i;
      if (c === b) spot.y = i;
      spots.set(data.case[i], spot);
    });
    const all = [...spots.values()].filter(spot => spot.x !== undefined && spot.y !== undefined), both = thinned(all);
    const proved = closed, time = i => Math.max(COLUMN.seconds[i], 0.001);
    const known = both.flatMap(spot => [spot.x, spot.y]).filter(proved).map(time);
    const edge = 3 * known.reduce((p, q) => Math.max(p, q), 0.01), least = known.reduce((p, q) => Math.min(p, q), edge) / 2;
    const place = i => proved(i) ? time(i) : edge, t = theme();
    const group = (some, mark, name) => ({x: some.map(s => place(s.x)), y: some.map(s => place(s.y)), text: some.map(s => short(data.instances[s.name], 60)), name, mode: "markers", marker: mark, hovertemplate: "%{text}<br>%{x:.3~g} s, %{y:.3~g} s<extra></extra>"});
    const rule = (x0, y0, x1, y1, dash) => ({type: "line", x0, y0, x1, y1, line: {color: t.faint, width: 1, dash}});
    return [[
      group(both.filter(s => proved(s.x) && proved(s.y)), {color: data.colours[0], size: 7, opacity: .75}, "both prove"),
      group(both.filter(s => proved(s.x) !== proved(s.y)), {color: data.colours[3], size: 8, symbol: "x"}, "one proves"),
      group(both.filter(s => !proved(s.x) && !proved(s.y)), {color: t.faint, size: 8, symbol: "square-open"}, "none proves"),
    ], layout({height: 430, xaxis: log(`${short(names[a])}: seconds${told(all.length)}`), yaxis: log(`${short(names[b])}: seconds`),
      shapes: [rule(least, least, edge, edge, "solid"), rule(edge, least, edge, edge, "dot"), rule(least, edge, edge, edge, "dot")]})];
  }

  const MEASURES = [["seconds until proved", i => closed(i) ? Math.log10(Math.max(COLUMN.seconds[i], 0.001)) : null],
    ["gap at the end", i => COLUMN.gap[i] === null ? null : Math.min(1, COLUMN.gap[i])], ["seconds until the best value", i => COLUMN["best at"][i] === null ? null : Math.log10(Math.max(COLUMN["best at"][i], 0.001))]];
  const measure = select("measure", MEASURES.map(([name]) => name), 0);

  function heatmap() {
    const [title, of] = MEASURES[Number(measure.value)], logarithmic = title.startsWith("seconds"), count = data.cases;
    const z = Array.from({length: count}, () => Array(names.length).fill(null)), text = z.map(row => row.map(() => "no run"));
    data.case.forEach((k, i) => {
      const c = COLUMN.configuration[i];
      z[k][c] = of(i);
      text[k][c] = `${short(data.instances[COLUMN.instance[i]], 60)}, ${short(names[c])}: ${outcomes[COLUMN.outcome[i]]}, ${seconds(COLUMN.seconds[i])} s`;
    });
    const first = new Map(data.case.map((k, i) => [k, i])), few = count <= 45 && byId("heatmap").clientWidth > 500, t = theme();
    const labels = Array.from({length: count}, (_, k) => short(data.instances[COLUMN.instance[first.get(k)]], 30));
    const powers = [-3, -2, -1, 0, 1, 2, 3, 4, 5];
    const bar = logarithmic ? {tickvals: powers, ticktext: powers.map(p => `${10 ** p} s`)} : {tickformat: ".0%"};
    return [[{type: "heatmap", z, text, x: names.map((_, c) => c), y: labels.map((_, k) => k), colorscale: "Cividis", reversescale: true, hoverongaps: false, xgap: 1, ygap: few ? 1 : 0, hovertemplate: "%{text}<extra></extra>", colorbar: {...bar, thickness: 12, outlinewidth: 0}}],
      layout({height: Math.min(900, Math.max(370, 120 + 16 * count)), plot_bgcolor: t.line, xaxis: {tickvals: names.map((_, c) => c), ticktext: names.map(name => short(name, 24)), tickangle: -35, showgrid: false, automargin: true},
        yaxis: {tickvals: few ? labels.map((_, k) => k) : [], ticktext: labels, autorange: "reversed", showgrid: false, title: few ? undefined : {text: `${count} cases`}}})];
  }

  const size = select("size", Object.keys(data.sizes), 0);

  function sizes() {
    const name = size.options[size.selectedIndex]?.text || "", values = data.sizes[name] || [];
    let most = 0;
    const traces = names.map((configuration, c) => {
      const all = COLUMN.configuration.map((d, i) => d === c && values[i] ? i : -1).filter(i => i >= 0), own = thinned(all);
      most = Math.max(most, all.length);
      return {x: own.map(i => values[i]), y: own.map(i => Math.max(COLUMN.seconds[i], 0.001)), text: own.map(i => short(data.instances[COLUMN.instance[i]], 60)), mode: "markers", ...look(c), name: short(configuration), visible: shown(c), hovertemplate: "%{text}<br>%{x}, %{y:.3~g} s"};
    }).filter(trace => trace.x.length);
    return [traces, layout({xaxis: log(name + told(most)), yaxis: log("seconds")})];
  }

  const FIGURES = {cactus, profile, "anytime-value": anytime("value"), "anytime-bound": anytime("bound"), single, scatter, heatmap, sizes};

  function draw(id) {
    const holder = byId(id);
    if (!holder) return;
    const [traces, settings] = FIGURES[id]();
    for (const side of ["x", "y"]) {
      const axis = settings[`${side}axis`];
      if (axis.type === "log") axis.dtick = ticks(traces, side);
    }
    // Paper has its own width, which the window knows nothing of.
    const width = paper ? (holder.parentElement.classList.contains("wide") ? 680 : 330) : undefined;
    Plotly.react(holder, traces, {...settings, width, uirevision: id}, config);
  }
  const drawAll = () => Object.keys(FIGURES).forEach(draw);
  const redrawn = {single: [instance], scatter: [across, upwards], heatmap: [measure], sizes: [size]};
  for (const [id, controls] of Object.entries(redrawn)) {
    controls.forEach(control => control.addEventListener("change", () => draw(id)));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", () => { paper = true; drawAll(); });
  addEventListener("afterprint", () => { paper = false; drawAll(); });
  drawAll();
  document.documentElement.dataset.ready = "yes";
})();
