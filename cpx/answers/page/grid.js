"use strict";
// A table that can be sorted by each column and filtered, a page at a time.
const PAGE = 50, collator = new Intl.Collator(undefined, {numeric: true});

class Grid {
  constructor(holder, columns, rows, filtered) {
    Object.assign(this, {columns, rows, page: 0, sorted: null, up: true, words: ""});
    this.table = holder.querySelector("table");
    this.body = this.table.tBodies[0];
    this.heads = [...this.table.tHead.rows[0].cells];
    this.heads.forEach((head, c) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => this.sort(c));
      head.append(button);
    });
    this.tools = document.createElement("div");
    this.tools.className = "tools";
    if (filtered) this.addTools(holder);
    this.update();
  }

  addTools(holder) {
    const label = document.createElement("label"), input = document.createElement("input");
    input.type = "search";
    input.addEventListener("input", () => { this.words = input.value; this.page = 0; this.update(); });
    label.append("Filter ", input);
    this.count = document.createElement("span");
    this.count.setAttribute("role", "status");
    this.back = this.turn("Previous", -1);
    this.next = this.turn("Next", 1);
    this.tools.append(label, this.count, this.back, this.next);
    holder.prepend(this.tools);
  }

  turn(text, by) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => { this.page += by; this.update(); });
    return button;
  }

  sort(c) {
    this.up = this.sorted === c ? !this.up : true;
    this.sorted = c;
    this.page = 0;
    this.update();
  }

  chosen() {
    const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
    let rows = this.rows;
    if (words.length) rows = rows.filter(row => { const all = row.find(); return words.every(word => all.includes(word)); });
    if (this.sorted === null) return rows;
    const c = this.sorted, sign = this.up ? 1 : -1;
    return rows.map((row, i) => [row.key(c), i, row]).sort(([a, i], [b, j]) => {
      const empty = (a === null || a === "") - (b === null || b === "");  // what is missing comes last
      if (empty) return empty;
      const order = typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b);
      return sign * order || i - j;
    }).map(([, , row]) => row);
  }

  update() {
    const rows = this.chosen(), last = Math.max(0, Math.ceil(rows.length / PAGE) - 1);
    this.page = Math.min(Math.max(this.page, 0), last);
    const first = this.page * PAGE, some = rows.slice(first, first + PAGE);
    this.body.replaceChildren(...some.map(row => row.element()));
    this.heads.forEach((head, c) => {
      if (c === this.sorted) head.setAttribute("aria-sort", this.up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    if (!this.count) return;
    const range = rows.length > PAGE ? `${first + 1} to ${first + some.length} of ` : "";
    this.count.textContent = `${range}${rows.length} ${rows.length === 1 ? "row" : "rows"}`;
    this.back.hidden = this.next.hidden = last === 0;
    this.back.disabled = this.page === 0;
    this.next.disabled = this.page === last;
  }
}

const number = text => text !== undefined && text !== "" ? Number(text) : null;

// Make the tables of a page sortable; those that ask for it get a filter.
function sortable(selector) {
  for (const holder of document.querySelectorAll(selector)) {
    const table = holder.querySelector("table"), numeric = [...table.tHead.rows[0].cells].map(cell => cell.classList.contains("number"));
    const rows = [...table.tBodies[0].rows].map(row => ({
      element: () => row,
      find: () => row.textContent.toLowerCase(),
      key: c => numeric[c] ? number(row.cells[c].dataset.key) : row.cells[c].textContent,
    }));
    new Grid(holder, [], rows, "filter" in holder.dataset);
  }
}
