"use strict";
// What all views of the page are made of: elements, numbers and lists.
const el = (tag, attributes, ...children) => {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat().filter(c => c !== null && c !== undefined && c !== ""));
  return e;
};
const svg = (tag, attributes, ...children) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  e.append(...children);
  return e;
};
const grouped = new Intl.NumberFormat("en-US");
const num = n => {
  const value = Number(n);
  return value >= 1e12 ? value.toExponential(1).replace("+", "") : grouped.format(value);
};
// Where unselected paths may have run besides (`open`), a count is the least; of nothing nothing is known.
const UNSELECTED = "not selected";
const least = (n, open) => !open ? num(n) : n ? "≥ " + num(n) : UNSELECTED;
// A share with one digit; what is not nothing does not look like it.
const pct = x => x > 0 && x < 0.0005 ? "<0.1 %" : (x * 100).toFixed(1) + " %";
// A change between two shares, in percentage points.
const points = x => (x < 0 ? "−" : "+") + Math.abs(x * 100).toFixed(1);
const base = file => file.split("/").pop();
const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
// The kind of an outcome, which gives it its colour.
const kind = outcome => outcome === "true" ? "yes" : outcome === "false" ? "no" : "other";

const cell = (text, width, type = "n") => el("span", { class: type, style: width ? `width:${width}` : null }, String(text));
// The heading of a column, with a sentence on what is in it.
const titled = (text, title, width, type = "n") => el("span", { class: type, title, style: width ? `width:${width}` : null }, text);
const heads = (...cells) => el("div", { class: "head mono" }, cells);
const bar = share => el("span", { class: "bar" }, el("i", { style: `width:${Math.min(100, share * 100).toFixed(2)}%` }));

// A list of any length: of more than `options.all` rows only those in sight exist. Nothing is drawn before the list is in the page, and what is drawn
// stays until rows outside of it come into sight. `row(i)` makes a row; `options.open(i)` is what Enter does.
const list = (head, count, height, row, options = {}) => {
  const body = el("div", { class: "body" });
  const box = el("div", { class: "list " + (options.class || ""), tabindex: 0, role: options.role || "region", "aria-label": options.label || "Rows", style: options.style }, head, body);
  const all = count <= (options.all || 60);
  let cursor = -1, first = 0, last = 0;
  const put = (from, to, top) => {
    [first, last] = [from, to];
    const rows = [];
    for (let i = from; i < to; i++) {
      const r = row(i);
      r.style.top = (i - top) * height + "px";
      if (i === cursor) r.classList.add("cursor");
      rows.push(r);
    }
    body.style.height = (top ? to - top : all ? to : count) * height + "px";
    body.replaceChildren(...rows);
  };
  const show = again => {
    if (!box.isConnected) return;
    if (all) { if (again || last !== count) put(0, count, 0); return; }
    const from = Math.max(0, Math.floor(box.scrollTop / height)), to = Math.min(count, from + Math.ceil((box.clientHeight || 800) / height) + 1);
    if (again || from < first || to > last) put(Math.max(0, from - 20), Math.min(count, to + 20), 0);
  };
  body.style.height = count * height + "px";
  box.addEventListener("scroll", () => { if (!all) requestAnimationFrame(() => show(false)); });
  box.show = () => show(false);
  box.redraw = () => show(true);
  // On paper there is no scrolling: the rows that matter, at most 600.
  box.print = () => { const [from, to] = options.printed || [0, count]; put(Math.max(0, from), Math.min(count, to, from + 600), Math.max(0, from)); };
  const inner = () => box.clientHeight - (head ? 26 : 0);
  box.sees = i => i * height >= box.scrollTop && (i + 1) * height <= box.scrollTop + inner();
  box.top = i => { box.scrollTop = Math.max(0, i * height); show(false); };
  box.reveal = i => { if (i >= 0 && !box.sees(i)) box.scrollTop = Math.max(0, i * height - inner() / 3); show(false); };
  box.move = d => { cursor = Math.max(0, Math.min(count - 1, cursor + d)); box.reveal(cursor); show(true); };
  box.opens = Boolean(options.open);
  box.open = () => { if (cursor >= 0 && options.open) options.open(cursor); };
  new ResizeObserver(() => show(false)).observe(box);
  return box;
};
// Takes the value from `make` the first time, and keeps it for the same keys.
const remembering = make => {
  const known = new Map();
  return (...keys) => {
    const key = keys.join(" ");
    if (!known.has(key)) known.set(key, make(...keys));
    return known.get(key);
  };
};
addEventListener("beforeprint", () => { for (const box of document.querySelectorAll(".list")) box.print(); });
addEventListener("afterprint", () => { for (const box of document.querySelectorAll(".list")) box.redraw(); });

// Saves a drawing with the colours that it has on the screen.
const save = (root, name) => {
  const copy = root.cloneNode(true), style = getComputedStyle(document.documentElement);
  const rules = [...document.styleSheets].flatMap(s => { try { return [...s.cssRules]; } catch { return []; } }).map(r => r.cssText).filter(t => t.startsWith("svg"));
  const names = ["bg", "fg", "dim", "line", "soft", "accent", "lit", "litfg", "hot", "yes", "no"].map(n => `--${n}:${style.getPropertyValue("--" + n)}`);
  copy.prepend(svg("style", {}, `svg{${names.join(";")};background:var(--bg);color:var(--dim)}` + rules.join("")));
  const text = new XMLSerializer().serializeToString(copy);
  el("a", { href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), download: name + ".svg" }).click();
};
