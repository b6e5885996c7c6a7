(() => {
  const data = JSON.parse(document.getElementById("data").textContent), byId = id => document.getElementById(id);
  sortable(".grid");

  // ---------------------------------------------------------------- pictures

  const HEIGHT = 78, BASE = 56, TALL = 44, SHOWN = 12;

  function shape(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const told = value => value === null ? "missing" : typeof value === "number" ? String(Number(value.toPrecision(6))) : value;
  const within = (spans, low, high, first) => spans.some(([a, b]) => {
    const middle = (low + high) / 2;
    if ((a === null || middle > a) && (b === null || middle <= b)) return true;
    return b !== null && b <= high && (a ?? first) >= low;
  });

  // The values of a column, those that the explanation names, and that of the row.
  function picture(panel) {
    const WIDTH = Math.max(260, Math.min(640, innerWidth - 80));  // so that texts keep their size
    const svg = shape("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${panel.name}: the row has ${told(panel.value)}`});
    const words = document.createElement("p");  // texts of a picture do not wrap
    words.className = "words";
    words.textContent = panel.text;
    const spread = panel.spread === null ? null : data.spreads[panel.spread];
    svg.append(shape("line", {x1: 0, x2: WIDTH, y1: BASE, y2: BASE, class: "base"}));
    if (!spread || !spread.counts.length) return [words, svg];
    const numbers = spread.edges.length > 0, low = spread.edges[0], high = spread.edges.at(-1), shown = numbers ? spread.counts.length : Math.min(SHOWN, spread.values.length);
    const most = Math.max(...spread.counts), step = WIDTH / shown;
    const place = v => WIDTH * Math.min(1, Math.max(0, (v - low) / (high - low)));
    for (let i = 0; i < shown; i += 1) {
      const count = spread.counts[i], named = numbers ? within(panel.spans, spread.edges[i], spread.edges[i + 1], low)
        : panel.named.length > 0 && panel.named.includes(spread.values[i]) === panel.within;
      const height = TALL * Math.max(count / most, count ? 0.03 : 0), gap = numbers ? 0 : 3;
      const bar = shape("rect", {x: i * step + gap, y: BASE - height, width: step - 2 * gap, height, class: named ? "named" : "other"});
      bar.append(shape("title", {}, numbers ? `${told(spread.edges[i])} to ${told(spread.edges[i + 1])}: ${count}` : `${spread.values[i]}: ${count}`));
      svg.append(bar);
    }
    if (numbers) for (const [a, b] of panel.spans) {
      svg.append(shape("line", {x1: a === null ? 0 : place(a), x2: b === null ? WIDTH : place(b), y1: BASE, y2: BASE, class: "span"}));
    }
    const at = !numbers ? (spread.values.slice(0, shown).indexOf(String(panel.value)) + 0.5) * step
      : typeof panel.value === "number" ? place(panel.value) : -1;
    const anchor = x => x < 60 ? "start" : x > WIDTH - 60 ? "end" : "middle";
    if (numbers && (at < 0 || at > 110)) svg.append(shape("text", {x: 0, y: HEIGHT - 6, class: "end"}, told(low)));
    if (numbers && at < WIDTH - 110) svg.append(shape("text", {x: WIDTH, y: HEIGHT - 6, class: "end", "text-anchor": "end"}, told(high)));
    if (at > 0 || (numbers && at === 0)) {
      svg.append(shape("line", {x1: at, x2: at, y1: BASE - TALL - 8, y2: BASE, class: "mark"}));
      svg.append(shape("text", {x: at, y: HEIGHT - 6, class: "mark", "text-anchor": anchor(at)}, told(panel.value)));
    }
    return [words, svg];
  }

  // ----------------------------------------------------------------- one row

  const dialog = byId("detail");
  let open = 0;

  function show(i) {
    open = i;
    const row = data.rows[i];
    byId("detail-title").textContent = `Row ${row.label}${row.class ? `: ${row.class}` : ""}`;
    byId("detail-text").textContent = row.text;
    byId("detail-panels").replaceChildren(...row.panels.flatMap(picture));
    byId("detail-facts").replaceChildren(...row.facts.flatMap(([name, text]) => {
      const term = document.createElement("dt"), meaning = document.createElement("dd");
      term.textContent = name;
      meaning.textContent = text;
      return [term, meaning];
    }));
    byId("detail-files").replaceChildren(...row.files.flatMap(([name, path]) => {
      const link = document.createElement("a");
      link.href = path;
      link.textContent = name;
      return [link, " "];
    }));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  // The rows as they are sorted and filtered now.
  const order = () => [...document.querySelectorAll("#rows button.open")].map(button => Number(button.dataset.row));

  document.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("open")) show(Number(button.dataset.row));
    if ("close" in button.dataset) dialog.close();
    if ("step" in button.dataset) {
      const rows = order(), at = rows.indexOf(open) + Number(button.dataset.step);
      if (at >= 0 && at < rows.length) show(rows[at]);
    }
  });
  dialog.addEventListener("close", () => document.querySelector(`#rows button.open[data-row="${open}"]`)?.focus());
  document.documentElement.dataset.ready = "yes";
})();
