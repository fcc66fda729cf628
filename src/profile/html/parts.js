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
const num = n => {
  const value = Number(n);
  return value >= 1e12 ? value.toExponential(1).replace("+", "") : value.toLocaleString("en-US");
};
// A share with one digit; what is not nothing does not look like it.
const pct = x => x > 0 && x < 0.0005 ? "<0.1 %" : (x * 100).toFixed(1) + " %";
// A change between two shares, in percentage points.
const points = x => (x < 0 ? "−" : "+") + Math.abs(x * 100).toFixed(1);
const base = file => file.split("/").pop();
const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
// The kind of an outcome, which gives it its colour.
const kind = outcome => outcome === "true" ? "yes" : outcome === "false" ? "no" : "other";

const cell = (text, width, type = "n") => el("span", { class: type, style: width ? `width:${width}` : null }, String(text));
const heads = (...cells) => el("div", { class: "head mono" }, cells);
const bar = share => el("span", { class: "bar" }, el("i", { style: `width:${Math.min(100, share * 100).toFixed(2)}%` }));

// A list of any length: only rows in sight exist. `row(i)` makes one; `options.open(i)` is what Enter does.
const list = (head, count, height, row, options = {}) => {
  const body = el("div", { class: "body" });
  const box = el("div", { class: "list " + (options.class || ""), tabindex: 0, role: options.role || "region", "aria-label": options.label || "Rows", style: options.style }, head, body);
  const all = count <= 300;
  let cursor = -1;
  const put = (first, last, top) => {
    const rows = [];
    for (let i = first; i < last; i++) {
      const r = row(i);
      r.style.top = (i - top) * height + "px";
      if (i === cursor) r.classList.add("cursor");
      rows.push(r);
    }
    body.style.height = (all || top ? last - top : count) * height + "px";
    body.replaceChildren(...rows);
  };
  const draw = () => {
    if (all) { put(0, count, 0); body.style.height = count * height + "px"; return; }
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 20);
    put(first, Math.min(count, first + Math.ceil((box.clientHeight || 800) / height) + 40), 0);
    body.style.height = count * height + "px";
  };
  box.addEventListener("scroll", () => { if (!all) requestAnimationFrame(draw); });
  box.redraw = draw;
  // On paper there is no scrolling: the rows that matter, at most 600.
  box.print = () => { const [first, last] = options.printed || [0, count]; put(Math.max(0, first), Math.min(count, last, first + 600), Math.max(0, first)); };
  const inner = () => box.clientHeight - (head ? 26 : 0);
  box.sees = i => i * height >= box.scrollTop && (i + 1) * height <= box.scrollTop + inner();
  box.top = i => { box.scrollTop = Math.max(0, i * height); draw(); };
  box.reveal = i => { if (i >= 0 && !box.sees(i)) box.scrollTop = Math.max(0, i * height - inner() / 3); draw(); };
  box.move = d => { cursor = Math.max(0, Math.min(count - 1, cursor + d)); box.reveal(cursor); };
  box.open = () => { if (cursor >= 0 && options.open) options.open(cursor); };
  draw();
  new ResizeObserver(() => { if (!all) draw(); }).observe(box);
  return box;
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
