// Control flow: the whole function as it was laid out, or one path with what it leaves aside folded.
const NODE = { width: 168, height: 46 };
// A function with more blocks than this opens at its path.
const FOLDED_FROM = 24;
// Characters of 12 pixels in a block.
const FITS = 21;

const linesOfBlocks = (f, blocks) => {
  const lines = blocks.flatMap(b => f.blocks[b].spans).filter(s => !s.inlined && f.begins && s.file === f.begins.file).map(s => s.line).filter(n => n > 0);
  if (lines.length) { const [a, b] = [Math.min(...lines), Math.max(...lines)]; return a === b ? `${a}` : `${a}–${b}`; }
  const inlined = blocks.flatMap(b => f.blocks[b].spans)[0];
  return inlined ? `⤷ ${inlined.line}` : `b${blocks[0]}`;
};
const node = (f, blocks, at, lit, most) => {
  const last = f.blocks[blocks[blocks.length - 1]], count = f.blocks[blocks[0]].count;
  const size = blocks.reduce((n, b) => n + f.blocks[b].size, 0), { width: W, height: H } = NODE;
  const { open } = f.blocks[blocks[0]], number = open && !count ? "?" : least(count, open) + " ×", lines = linesOfBlocks(f, blocks), words = size === 1 ? "1 instr" : `${size} instrs`;
  return svg("g", { class: "b" + (lit ? " lit" : "") + (count ? "" : open ? " unknown" : " never"), "data-blocks": blocks.join(" "), transform: `translate(${at[0] - W / 2} ${at[1] - H / 2})` },
    svg("rect", { width: W, height: H, rx: 6 }),
    svg("rect", { width: W, height: H, rx: 6, style: `fill:rgb(var(--hot));fill-opacity:${lit ? 0 : (.35 * count / most).toFixed(3)};stroke:none` }),
    svg("text", { x: 8, y: 18, class: "strong" }, cut(lines, Math.max(3, FITS - number.length - 1))),
    svg("text", { x: W - 8, y: 18, "text-anchor": "end" }, number),
    svg("text", { x: 8, y: 36, class: last.asks ? "" : "faint" }, cut(last.asks || (last.edges.length ? words : words + ", end"), FITS)),
    svg("title", {}, `b${blocks.join(" b")}${last.asks ? ": " + last.asks : ""}${open ? "; paths that are not selected may have run it, too" : ""}`));
};
const edge = (d, on, width, title) => svg("path", { class: "e" + (on ? " lit" : ""), d, "marker-end": on ? "url(#arrow-lit)" : "url(#arrow)", "stroke-width": on ? 3 : width }, svg("title", {}, title));
const label = (x, y, text, on, anchor = "middle") => svg("text", { class: `w ${kind(text)}${on ? " lit" : ""}`, x, y, "text-anchor": anchor }, cut(text, 16));
const curve = list => "M" + list[0] + list.slice(1).map((b, i) => { const a = list[i], middle = (a[1] + b[1]) / 2; return ` C${a[0]} ${middle},${b[0]} ${middle},${b[0]} ${b[1]}`; }).join("");

// The function with all of its blocks.
const whole = (f, p) => {
  const lit = new Set(p.blocks), ways = new Set(p.blocks.map((b, i) => b + "." + p.succs[i]));
  const most = Math.max(1, ...f.blocks.map(b => b.count)), below = [], above = [], labels = [];
  const H = NODE.height;
  f.blocks.forEach((b, i) => {
    if (!b.at) return;
    // Edges leave in the order of the places they lead to, those that lead back at the right.
    const aim = e => { const to = f.blocks[e.to].at; return !to ? 0 : to[1] <= b.at[1] ? Infinity : (e.bends || [to])[0][0]; };
    const ports = b.edges.map((_, s) => s).sort((x, y) => { const [u, v] = [aim(b.edges[x]), aim(b.edges[y])]; return u === v ? x - y : u - v; });
    b.edges.forEach((e, s) => {
      const to = f.blocks[e.to].at;
      if (!to) return;
      const n = b.edges.length, on = ways.has(i + "." + s), [x, y] = b.at;
      const from = [x + (n > 1 ? (ports.indexOf(s) - (n - 1) / 2) * Math.min(76, 150 / (n - 1)) : 0), y + H / 2];
      let d;
      if (to[1] <= y) {
        const side = Math.max(x, to[0]) + NODE.width / 2 + 24 + Math.min(60, (y - to[1]) / 8);
        d = `M${from} C${side} ${y + H},${side} ${to[1] - H},${to[0]} ${to[1] - H / 2}`;
      } else d = curve([from, ...(e.bends || []), [to[0], to[1] - H / 2]]);
      (on ? above : below).push(edge(d, on, 1 + 1.5 * e.count / most, `b${i} → b${e.to} ${e.outcome || ""}: ${least(e.count, e.open)}`));
      if (e.outcome && e.outcome !== "returns" && !e.outcome.startsWith("→") && (n <= 2 || on)) labels.push(label(from[0], from[1] + 15, e.outcome, on));
    });
  });
  f.blocks.forEach((b, i) => { if (b.at) above.push(node(f, [i], b.at, lit.has(i), most)); });
  return { parts: [...below, ...above, ...labels], start: (f.blocks[p.blocks[0]] || {}).at || [0, 0] };
};

// One path from top to bottom: blocks without a choice together, and calls that never threw; ways that it does not take at
// the side.
const alone = (f, p) => {
  const runs = [], parts = [], most = Math.max(1, ...p.blocks.map(b => f.blocks[b].count)), step = 96, H = NODE.height, W = NODE.width;
  p.blocks.forEach((b, i) => {
    const before = p.blocks[i - 1];
    const calm = i && f.blocks[before].edges.every((e, s) => s === p.succs[i - 1] ? !e.outcome || e.outcome === "returns" : !e.count && !e.open && f.blocks[before].edges[p.succs[i - 1]].outcome === "returns");
    if (calm && f.blocks[before].count === f.blocks[b].count) runs[runs.length - 1].blocks.push(b);
    else runs.push({ blocks: [b] });
    Object.assign(runs[runs.length - 1], { last: b, succ: p.succs[i] });
  });
  runs.forEach((run, k) => {
    const y = k * step, block = f.blocks[run.last], taken = block.edges[run.succ];
    const others = block.edges.filter((_, s) => s !== run.succ);
    if (k + 1 < runs.length) {
      parts.push(edge(`M0 ${y + H / 2}L0 ${y + step - H / 2}`, true, 3, `${taken ? least(taken.count, taken.open) : ""}`));
      if (taken && taken.outcome && !taken.outcome.startsWith("→")) parts.push(label(-8, y + H / 2 + 21, taken.outcome, true, "end"));
    } else if (p.back !== undefined) {
      const top = runs.findIndex(r => r.blocks.includes(p.back));
      if (top >= 0) parts.push(edge(`M${-W / 2} ${y} C${-W / 2 - 40} ${y},${-W / 2 - 40} ${top * step},${-W / 2} ${top * step}`, true, 3, p.end));
      parts.push(label(0, y + H / 2 + 18, p.end, true));
    }
    others.slice(0, 3).forEach((e, n) => {
      const ty = y + H / 2 + 6 + n * 16, where = linesOfBlocks(f, [e.to]);
      if (!n) parts.push(edge(`M${W / 2} ${y} C${W / 2 + 24} ${y},${W / 2 + 10} ${ty - 4},${W / 2 + 24} ${ty - 4}`, false, 1, "folded"));
      const text = n === 2 && others.length > 3 ? `⋯ ${others.length - 2} more ways` : `${e.outcome && !e.outcome.startsWith("→") ? e.outcome + " " : ""}→ ${where.replace("⤷ ", "")} · ${e.count ? least(e.count, e.open) + " ×" : e.open ? UNSELECTED : "never"}`;
      parts.push(svg("text", { class: "w side", x: W / 2 + 30, y: ty, "data-block": e.to }, text, svg("title", {}, "Show the whole function")));
    });
    parts.push(node(f, run.blocks, [0, y], true, most));
  });
  return { parts, start: [-NODE.width, 0] };
};

// `state` keeps mode, scale and place between the paths of one function.
const picture = (f, p, state) => {
  if (state.mode === undefined) state.mode = f.blocks.length > FOLDED_FROM ? "path" : "all";
  const root = svg("svg", { role: "img", "aria-label": `Control flow of ${f.name}`, xmlns: "http://www.w3.org/2000/svg", width: "100%", height: "100%" });
  const arrow = (id, color) => svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, svg("path", { d: "M0 0L8 4L0 8z", style: `fill:var(--${color})` }));
  root.append(svg("defs", {}, arrow("arrow", "dim"), arrow("arrow-lit", "accent")));
  const drawn = state.mode === "path" ? alone(f, p) : whole(f, p);
  root.append(...drawn.parts);
  const box = el("div", { class: "pic", tabindex: 0, role: "group", "aria-label": "Control flow: arrow keys move, + and − zoom, 0 fits the path" }, root);
  const apply = () => {
    const w = (box.clientWidth || 400) / state.scale, h = (box.clientHeight || 500) / state.scale;
    root.setAttribute("viewBox", `${state.x - w / 2} ${state.y - h / 2} ${w} ${h}`);
  };
  const bounds = selector => {
    const nodes = [...root.querySelectorAll(selector)].map(g => g.getAttribute("transform").match(/-?[\d.]+/g).map(Number));
    if (!nodes.length) return null;
    const xs = nodes.map(n => n[0]), ys = nodes.map(n => n[1]);
    const side = state.mode === "path" ? 210 : 30;
    return [Math.min(...xs) - 44, Math.min(...ys) - 14, Math.max(...xs) + NODE.width + side, Math.max(...ys) + NODE.height + 30];
  };
  const over = (b, least) => {
    const scale = Math.min(1.4, box.clientWidth / (b[2] - b[0]), box.clientHeight / (b[3] - b[1]));
    if (scale < least) return false;
    Object.assign(state, { scale, x: (b[0] + b[2]) / 2, y: (b[1] + b[3]) / 2 });
    return true;
  };
  box.fit = () => { const b = bounds("g.b.lit") || bounds("g.b"); if (b && box.clientWidth) over(b, 0); state.moved = true; apply(); };
  // Letters are 12 pixels high; if all of it does not fit at 11, it begins at the path's first block.
  const begin = () => {
    const b = bounds("g.b");
    if (!b || !box.clientWidth) return;
    if (!over(b, .92)) {
      // Nothing is cut off at a side where the other one has room.
      const half = box.clientWidth / 2;
      const x = b[2] - b[0] <= 2 * half ? (b[0] + b[2]) / 2
        : Math.min(b[2] - half, Math.max(b[0] + half, drawn.start[0]));
      Object.assign(state, { scale: 1, x, y: drawn.start[1] + box.clientHeight / 2 - NODE.height });
    } else {
      state.scale = Math.min(1, state.scale);
      state.y = b[1] + box.clientHeight / 2 / state.scale;
    }
    apply();
  };
  box.place = () => state.moved ? apply() : begin();
  new ResizeObserver(box.place).observe(box);
  box.zoom = k => { state.scale = Math.min(4, Math.max(.05, state.scale * k)); state.moved = true; apply(); };
  const pan = (dx, dy) => { state.x += dx / state.scale; state.y += dy / state.scale; state.moved = true; apply(); };
  root.addEventListener("wheel", e => { e.preventDefault(); if (e.ctrlKey || e.metaKey || !e.shiftKey && Math.abs(e.deltaX) < 1) box.zoom(e.deltaY > 0 ? 1 / 1.15 : 1.15); else pan(e.deltaX || e.deltaY, 0); }, { passive: false });
  let from = null;
  root.addEventListener("pointerdown", e => { from = [e.clientX, e.clientY]; });
  root.addEventListener("pointermove", e => { if (!from || !e.buttons) { from = null; return; } pan(from[0] - e.clientX, from[1] - e.clientY); from = [e.clientX, e.clientY]; });
  box.addEventListener("keydown", e => {
    const by = { ArrowUp: [0, -60], ArrowDown: [0, 60], ArrowLeft: [-60, 0], ArrowRight: [60, 0] }[e.key];
    if (!by || e.ctrlKey || e.metaKey || e.altKey) return;
    pan(...by);
    e.preventDefault();
    e.stopPropagation();
  });
  return box;
};
