"use strict";
// Draws the data of a profile. Rows of the data are arrays, in the order of `src/profile/html/data.rs`.
(async () => {
  const $ = id => document.getElementById(id);
  const main = $("main");
  const inflate = async text => {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const D = await inflate(window.P3_DATA || $("data").textContent);
  const F = D.functions;

  // Elements, numbers, names.
  const el = (tag, attributes, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) {
      if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
    }
    e.append(...children.flat().filter(c => c !== null && c !== undefined));
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
    if (value >= 1e12) return value.toExponential(1).replace("+", "");
    return value.toLocaleString("en-US");
  };
  const pct = x => (x * 100).toFixed(2) + "%";
  const short = file => file.split("/").pop();

  // Sums.
  const size = (f, p) => p[4].reduce((sum, b) => sum + f.blocks[b][1], 0);
  let allPaths = 0, allInstructions = 0, distinct = 0;
  const hottest = [];
  F.forEach((f, i) => {
    f.count = f.instructions = 0;
    f.paths.forEach((p, j) => {
      f.count += p[1];
      f.instructions += p[1] * size(f, p);
      if (p[1] > 0) { distinct++; hottest.push([i, j]); }
    });
    f.ran = f.paths.filter(p => p[1] > 0).length;
    f.share = Number(f.feasible) ? f.covered / Number(f.feasible) : 1;
    allPaths += f.count;
    allInstructions += f.instructions;
  });
  const weight = ([i, j]) => F[i].paths[j][1] * size(F[i], F[i].paths[j]);
  hottest.sort((a, b) => weight(b) - weight(a));

  // Executions and instructions of lines: of a line the most often executed block of each function counts.
  const heat = D.files.map(() => new Map());
  F.forEach((f, i) => f.blocks.forEach(b => {
    for (let k = 0; k < b[3].length; k += 4) {
      const lines = heat[b[3][k]];
      const at = lines.get(b[3][k + 1]) || { by: new Map(), functions: new Set() };
      at.by.set(i, Math.max(at.by.get(i) || 0, b[0]));
      at.functions.add(i);
      lines.set(b[3][k + 1], at);
    }
  }));
  const executions = at => { let n = 0; for (const c of at.by.values()) n += c; return n; };
  for (const lines of heat) for (const at of lines.values()) at.n = executions(at);

  // What a path is: the lines it runs through, and what is decided on it.
  const linesOf = (f, p) => {
    const lines = [];
    for (const b of p[4]) {
      const spans = f.blocks[b][3];
      for (let k = 0; k < spans.length; k += 4) {
        const last = lines[lines.length - 1];
        if (!last || last[0] !== spans[k] || last[1] !== spans[k + 1]) lines.push([spans[k], spans[k + 1]]);
      }
    }
    return lines;
  };
  const chain = n => {
    const names = [];
    for (; n; n = D.inlined[n - 1][1] === null ? 0 : D.inlined[n - 1][1] + 1) names.push(D.inlined[n - 1][0]);
    return names;
  };
  const placed = f => f.blocks.some(b => b[3].length);
  const decisions = (f, p) => {
    const debug = placed(f), list = [];
    p[4].forEach((b, i) => {
      const block = f.blocks[b], succ = p[5][i];
      if (succ === undefined || block[5].length < 2) return;
      let to = null, back = false;
      for (let j = i + 1; j < p[4].length && to === null; j++) if (!debug || f.blocks[p[4][j]][3].length) to = p[4][j];
      if (to === null && p[3] !== null) { to = p[3]; back = true; }
      if (to === null) to = p[4][i + 1] === undefined ? b : p[4][i + 1];
      const spans = block[3], there = f.blocks[to][3];
      const file = spans.length ? spans[spans.length - 4] : null;
      const line = there.length ? there[1] : null;
      let goes = line === null ? "b" + to : (there[0] !== file ? short(D.files[there[0]]) + ":" : "") + line;
      const here = block[4][0].split(":");
      if (!back && line !== null && String(line) === here[0] && there[0] === file && there[2]) goes += ":" + there[2];
      const way = block[5][succ][2];
      const plain = way === "true" || way === "false";
      if (way === "returns") return;
      const names = spans.length ? chain(spans[spans.length - 1]) : [];
      list.push({
        block: b, succ, way, to, back, line: here[0],
        text: (names.length ? names.join(" ← ") + ": " : "") + block[4][0] + " " + [block[4][1], plain && (block[4][1] || file !== null) ? null : way].filter(Boolean).join(": ")
          + " → " + (back ? "back to " : "") + goes,
      });
    });
    return list;
  };
  // What a view of the first ones says behind its name.
  const of = (rows, most) => rows.length > most ? `: ${num(most)} of ${num(rows.length)}` : "";
  const wayOf = p => (p[2] ? "loop b" + p[4][0] : "entry") + " → " + (p[3] === null ? "exit" : "back to b" + p[3]);

  // Lists of any length: only rows in sight exist.
  const list = (head, count, height, row, options = {}) => {
    const body = el("div", { class: "body" });
    const box = el("div", { class: "list " + (options.class || ""), tabindex: 0, role: options.role || "region", "aria-label": options.label || "Rows", style: options.style }, head, body);
    body.style.height = count * height + "px";
    const all = count <= 500;
    const draw = () => {
      const first = all ? 0 : Math.max(0, Math.floor(box.scrollTop / height) - 20);
      const last = all ? count : Math.min(count, first + Math.ceil((box.clientHeight || 800) / height) + 40);
      const rows = [];
      for (let i = first; i < last; i++) {
        const r = row(i);
        r.style.top = i * height + "px";
        rows.push(r);
      }
      body.replaceChildren(...rows);
    };
    box.addEventListener("scroll", () => { if (!all) requestAnimationFrame(draw); });
    box.redraw = draw;
    box.reveal = i => {
      const top = i * height, under = head ? 24 : 0;
      if (top < box.scrollTop || top + height + under > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 3);
      draw();
    };
    draw();
    new ResizeObserver(() => { if (!all) draw(); }).observe(box);
    return box;
  };
  const cell = (text, width, kind = "n") => el("span", { class: kind, style: width ? `width:${width}` : null }, String(text));
  const heads = (...cells) => el("div", { class: "head mono" }, cells);
  const go = hash => { location.hash = hash; };

  // Pictures.
  const picture = (f, p) => {
    const W = 108, H = 40;
    let right = 0, bottom = 0;
    for (const b of f.blocks) if (b[2]) { right = Math.max(right, b[2][0]); bottom = Math.max(bottom, b[2][1]); }
    const root = svg("svg", { role: "img", "aria-label": `Control flow of ${f.name}`, xmlns: "http://www.w3.org/2000/svg", width: "100%", height: "100%" });
    const lit = new Set(p ? p[4] : []), edges = new Set(p ? p[4].map((b, i) => b + "." + p[5][i]) : []);
    root.append(svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, svg("path", { d: "M0 0L8 4L0 8z", fill: "currentColor" }))));
    const most = Math.max(1, ...f.blocks.map(b => b[0]));
    f.blocks.forEach((b, i) => {
      if (!b[2]) return;
      b[5].forEach((e, s) => {
        const to = f.blocks[e[0]][2];
        if (!to) return;
        const [x, y] = b[2], points = [[x + (s - (b[5].length - 1) / 2) * Math.min(16, 80 / b[5].length), y + H / 2]].concat(e[3], [[to[0], to[1] - H / 2]]);
        let d;
        if (to[1] <= y) {
          const side = Math.max(x, to[0]) + 80 + Math.min(60, (y - to[1]) / 8);
          d = `M${points[0]} C${side} ${y + H},${side} ${to[1] - H},${to[0]} ${to[1] - H / 2}`;
        } else {
          d = "M" + points[0];
          for (let k = 1; k < points.length; k++) {
            const [a, b2] = [points[k - 1], points[k]], middle = (a[1] + b2[1]) / 2;
            d += ` C${a[0]} ${middle},${b2[0]} ${middle},${b2[0]} ${b2[1]}`;
          }
        }
        const on = edges.has(i + "." + s);
        root.append(svg("path", { class: "e" + (on ? " lit" : ""), d, "marker-end": "url(#arrow)", "stroke-width": on ? 3 : 1 + 2 * e[1] / most }, svg("title", {}, `b${i} → b${e[0]} ${e[2] || ""}: ${num(e[1])}`)));
      });
    });
    f.blocks.forEach((b, i) => {
      if (!b[2]) return;
      const [x, y] = b[2], first = b[3].length ? `:${b[3][1]}` : "";
      root.append(svg("g", { class: "b" + (lit.has(i) ? " lit" : "") + (b[0] ? "" : " never"), "data-block": i, transform: `translate(${x - W / 2} ${y - H / 2})` },
        svg("rect", { width: W, height: H, rx: 5, style: `fill-opacity:1` }),
        svg("rect", { width: W, height: H, rx: 5, style: `fill:rgba(var(--hot),${lit.has(i) ? 0 : .45 * b[0] / most});stroke:none` }),
        svg("text", { x: 7, y: 16 }, `b${i}${first}`), svg("text", { x: 7, y: 32 }, num(b[0])),
        svg("title", {}, b[4] ? `${b[4][0]} ${b[4][1] || ""}` : `b${i}`)));
    });
    const view = { x: -20, y: -10, w: right + 160, h: bottom + 60 };
    const box = el("div", { class: "pic" }, root);
    const fit = () => root.setAttribute("viewBox", `${view.x} ${view.y} ${view.w} ${view.h}`);
    // The beginning of a large picture is legible; the rest is a drag away.
    if (view.h > 1100) { view.h = 900; }
    if (view.w > 1400) { view.w = 1000; view.x = (f.blocks[0][2] || [0])[0] - 500; }
    if (p && (right > 1400 || bottom > 1100)) { const at = f.blocks[p[4][0]][2]; if (at) { view.x = at[0] - view.w / 2; view.y = at[1] - 80; } }
    fit();
    root.addEventListener("wheel", e => { e.preventDefault(); const k = e.deltaY > 0 ? 1.15 : 1 / 1.15; view.x += view.w * (1 - k) / 2; view.y += view.h * (1 - k) / 2; view.w *= k; view.h *= k; fit(); }, { passive: false });
    let from = null;
    root.addEventListener("pointerdown", e => { from = [e.clientX, e.clientY]; root.setPointerCapture(e.pointerId); });
    root.addEventListener("pointermove", e => { if (!from) return; const k = Math.max(view.w / root.clientWidth, view.h / root.clientHeight); view.x -= (e.clientX - from[0]) * k; view.y -= (e.clientY - from[1]) * k; from = [e.clientX, e.clientY]; fit(); });
    root.addEventListener("pointerup", () => { from = null; });
    return box;
  };
  const save = (root, name) => {
    const copy = root.cloneNode(true), style = getComputedStyle(document.documentElement);
    const rules = [...document.styleSheets].flatMap(s => { try { return [...s.cssRules]; } catch { return []; } }).map(r => r.cssText).filter(t => t.startsWith("svg"));
    const names = ["bg", "fg", "dim", "soft", "accent", "lit", "litfg", "hot"].map(n => `--${n}:${style.getPropertyValue("--" + n)}`);
    copy.prepend(svg("style", {}, `svg{${names.join(";")};background:var(--bg);color:var(--dim)}` + rules.join("")));
    const text = new XMLSerializer().serializeToString(copy);
    const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), download: name + ".svg" });
    link.click();
  };

  // The text of a file with heat, and lit lines.
  const source = (file, litLines, options = {}) => {
    const text = D.sources[file], lines = heat[file];
    const known = [...lines.keys()].sort((a, b) => a - b);
    const rows = text === null ? known.map(n => [n, ""]) : text.split("\n").map((t, i) => [i + 1, t.replace(/\t/g, "    ")]);
    const most = Math.log1p(Math.max(1, ...[...lines.values()].map(a => a.n)));
    const row = i => {
      const [n, t] = rows[i], at = lines.get(n), on = litLines.has(n);
      const style = at && at.n && !on ? `background:rgba(var(--hot),${(.4 * Math.log1p(at.n) / most).toFixed(3)})` : "";
      return el("div", { class: "row" + (on ? " lit" : ""), "data-line": n, style, onclick: () => { if (options.click && at) options.click(n, at); } },
        cell(n, null, "n ln"), cell(at ? (at.n ? num(at.n) : "–") : "", null, "n ct"), el("span", { class: "tx" }, t));
    };
    const box = list(null, rows.length, 18, row, { class: "code", label: `Source ${D.files[file]}`, style: options.style });
    box.at = n => rows.findIndex(r => r[0] === n);
    return box;
  };

  // Views.
  const fact = (n, what) => el("div", {}, el("b", {}, n), el("span", {}, what));
  const warnings = () => {
    const p = D.program, said = [...p.incomplete, ...p.unlike, ...p.violations.map(v => `${v.name}: ${v.what}`), ...D.changed];
    return said.length ? [el("h2", {}, "Warnings"), el("ul", { class: "warn" }, said.map(s => el("li", {}, s)))] : [];
  };
  const pathRows = (rows, height) => list(
    heads(cell("count", "7rem"), cell("paths", "4.5rem"), cell("instrs", "4.5rem"), cell("path", null, "g")), rows.length, 22,
    k => {
      const [i, j] = rows[k], f = F[i], p = f.paths[j];
      return el("div", { class: "row", onclick: () => go(`f=${i}&p=${j}`) }, cell(num(p[1]), "7rem"), cell(pct(p[1] / (allPaths || 1)), "4.5rem"), cell(pct(weight([i, j]) / (allInstructions || 1)), "4.5rem"),
        el("a", { class: "g", href: `#f=${i}&p=${j}` }, `${f.name} #${p[0]} ${wayOf(p)}`));
    }, { style: `height:${height}`, label: "Hottest paths" });
  const overview = () => {
    const ran = F.filter(f => f.count > 0), feasible = F.reduce((s, f) => s + Number(f.feasible), 0);
    const skipped = F.filter(f => f.status !== "exact");
    const byWeight = F.map((_, i) => i).filter(i => F[i].instructions > 0).sort((a, b) => F[b].instructions - F[a].instructions);
    return [
      el("div", { class: "facts" }, fact(num(allPaths), "paths executed"), fact(num(distinct), "distinct"), fact(num(allInstructions), "instructions on them"),
        fact(`${ran.length} / ${F.length}`, "functions ran"), fact(pct(distinct / (feasible || 1)), `of ${num(feasible)} feasible paths`), fact(D.program.verdict, `${D.program.scheme}, ${D.program.copies} ${D.program.copies === 1 ? "copy" : "copies"}`)),
      ...warnings(), ...(D.baseline ? [el("p", {}, `Compared with ${D.baseline}`)] : []),
      el("h2", {}, "Hottest paths" + of(hottest, 100000)), pathRows(hottest.slice(0, 100000), "18rem"),
      el("h2", {}, "Hottest functions"), functionRows(byWeight, "14rem"),
      ...(skipped.length ? [el("h2", {}, "Not exact"), el("ul", {}, skipped.slice(0, 50).map(f => el("li", {}, `${f.name}: ${f.status}`)))] : []),
      el("h2", {}, "Copies"), el("p", {}, D.runs.map((n, i) => `copy ${i}: ${num(n)} ${n === 1 ? "process" : "processes"}`).join(", ")),
    ];
  };
  const functionRows = (order, height) => list(
    heads(cell("instrs", "4.5rem"), cell("paths", "7rem"), cell("distinct", "6rem", "n hide"), cell("feasible", "7rem", "n hide"), cell("function", null, "g")), order.length, 22,
    k => {
      const f = F[order[k]];
      return el("div", { class: "row", onclick: () => go(`f=${order[k]}`) }, cell(pct(f.instructions / (allInstructions || 1)), "4.5rem"), cell(num(f.count), "7rem"), cell(num(f.ran), "6rem", "n hide"), cell(num(f.feasible), "7rem", "n hide"),
        el("a", { class: "g", href: `#f=${order[k]}`, title: f.name }, f.name + (f.status === "exact" ? "" : ` (${f.status})`)));
    }, { style: `height:${height}`, label: "Functions" });
  const wanted = () => {
    const text = $("search").value.toLowerCase();
    const order = F.map((_, i) => i).filter(i => F[i].name.toLowerCase().includes(text) || F[i].symbol.toLowerCase().includes(text));
    return order.sort((a, b) => F[b].instructions - F[a].instructions || a - b);
  };
  const functions = () => [el("h2", {}, "Functions"), functionRows(wanted(), "calc(100vh - 9rem)")];
  const sourcesView = file => {
    const files = D.files.map((_, i) => i).filter(i => heat[i].size);
    if (file === null) {
      const rows = files.map(i => ({ i, n: [...heat[i].values()].filter(a => a.n).length, of: heat[i].size }));
      return [el("h2", {}, "Sources"), list(heads(cell("lines ran", "6rem"), cell("of", "5rem"), cell("file", null, "g")), rows.length, 22,
        k => el("div", { class: "row", onclick: () => go(`file=${rows[k].i}`) }, cell(num(rows[k].n), "6rem"), cell(num(rows[k].of), "5rem"), el("a", { class: "g", href: `#file=${rows[k].i}` }, D.files[rows[k].i] + (D.sources[rows[k].i] === null ? " (no text)" : ""))),
        { style: "height:calc(100vh - 9rem)", label: "Files" })];
    }
    return [el("h2", {}, D.files[file]), source(file, new Set(), { style: "height:calc(100vh - 9rem)", click: (_, at) => go(`f=${[...at.by].sort((a, b) => b[1] - a[1])[0][0]}`) })];
  };
  const coverageView = () => {
    const order = F.map((_, i) => i).sort((a, b) => (Number(F[b].feasible) - F[b].covered) - (Number(F[a].feasible) - F[a].covered) || a - b);
    return [el("h2", {}, "Paths that control flow allows, and that ran"), list(
      heads(cell("executed", "6rem"), cell("feasible", "7rem"), cell("share", "5rem"), cell("", "8rem", "g hide"), cell("function", null, "g")), order.length, 22,
      k => {
        const f = F[order[k]];
        return el("div", { class: "row", onclick: () => go(`f=${order[k]}` + (f.uncovered.length ? "&u=0" : "")) }, cell(num(f.covered), "6rem"), cell(num(f.feasible), "7rem"), cell(pct(f.share), "5rem"),
          el("span", { class: "bar hide" }, el("i", { style: `width:${Math.min(100, f.share * 100)}%` })), el("a", { class: "g", href: `#f=${order[k]}` }, f.name));
      }, { style: "height:calc(100vh - 9rem)", label: "Coverage" })];
  };
  // Instructions by function, then by the blocks of its paths, common beginnings together.
  const flameView = () => {
    const root = { name: "all", value: 0, kids: new Map() };
    const add = (node, key, name, value, hash) => {
      let kid = node.kids.get(key);
      if (!kid) node.kids.set(key, kid = { name, value: 0, kids: new Map(), hash });
      kid.value += value;
      return kid;
    };
    for (const [i, j] of hottest.slice(0, 20000)) {
      const f = F[i], p = f.paths[j], w = weight([i, j]);
      root.value += w;
      let node = add(root, i, f.name, w, `f=${i}`);
      if (p[2]) node = add(node, "L" + p[4][0], `loop b${p[4][0]}`, w, `f=${i}`);
      for (const d of decisions(f, p).slice(0, 24)) node = add(node, d.block + "." + d.succ, d.text, w, `f=${i}&p=${j}`);
    }
    const width = Math.max(600, main.clientWidth - 30), rows = [];
    let deepest = 0;
    const draw = (node, x, depth) => {
      const w = width * node.value / (root.value || 1);
      if (w < 1) return;
      deepest = Math.max(deepest, depth);
      const hue = 20 + [...node.name].reduce((h, c) => (h * 31 + c.charCodeAt(0)) % 40, 7);
      rows.push(svg("g", {}, svg("rect", { class: "fl", x, y: depth * 19, width: w, height: 18, style: `fill:hsl(${hue} 75% 62%)`, "data-hash": node.hash || "" }, svg("title", {}, `${node.name}: ${num(node.value)} instructions, ${pct(node.value / (root.value || 1))}`)),
        svg("text", { x: x + 3, y: depth * 19 + 13, style: "fill:#1a1c20;pointer-events:none" }, w > 30 ? node.name.slice(0, Math.floor(w / 6.8)) : "")));
      let at = x;
      for (const kid of [...node.kids.values()].sort((a, b) => b.value - a.value)) { draw(kid, at, depth + 1); at += width * kid.value / (root.value || 1); }
    };
    draw(root, 0, 0);
    const s = svg("svg", { width, height: (deepest + 1) * 19, role: "img", "aria-label": "Flame graph of paths", xmlns: "http://www.w3.org/2000/svg" }, ...rows);
    s.addEventListener("click", e => { const h = e.target.getAttribute && e.target.getAttribute("data-hash"); if (h) go(h); });
    return [el("h2", {}, "Instructions by function and path" + of(hottest, 20000) + " ", el("button", { type: "button", onclick: () => save(s, "flame") }, "SVG")), el("div", { class: "flame" }, s)];
  };

  let shown = null;
  const functionView = (i, kind, j) => {
    const f = F[i];
    if (!f) return [el("p", {}, "No such function")];
    const entries = f.paths.map((p, k) => ({ kind: "p", k, p })).concat(f.uncovered.map((u, k) => ({ kind: "u", k, p: u.path, near: u.near, fresh: u.new_edges })));
    let at = Math.max(0, entries.findIndex(e => e.kind === kind && e.k === j));
    const head = el("div", {}, el("h2", {}, f.name), el("p", { class: "dim", style: "margin:.1rem 0" },
      `${num(f.count)} paths executed (${pct(f.count / (allPaths || 1))}), ${num(f.ran)} of ${num(f.feasible)} distinct, entered ${num(f.entered)} times, ${pct(f.instructions / (allInstructions || 1))} of instructions`
      + (f.left ? `, left before its end ${num(f.left)} times` : "") + (f.status === "exact" ? "" : `; ${f.status}`)
      + (f.branchless.length ? `; ${f.branchless.length} conditions without a branch (lines ${[...new Set(f.branchless.map(b => b[1]))].slice(0, 6).join(", ")})` : "")));
    if (!entries.length) return [head, el("p", {}, f.status === "exact" ? "No path ran." : f.status)];
    const left = el("section"), middle = el("section"), right = el("section");
    const told = el("ol", { class: "decisions", "aria-label": "Decisions", tabindex: 0 });
    const extra = f.compared ? [cell("before", "5.5rem")] : [];
    const rows = list(heads(cell("count", "6rem"), ...extra, cell("instrs", "4.2rem"), cell("path", null, "g")), entries.length, 22, k => {
      const e = entries[k], p = e.p;
      return el("div", { class: "row", role: "option", "aria-selected": k === at ? "true" : "false", "data-path": e.kind + e.k, onclick: () => choose(k) },
        cell(e.kind === "u" ? "not run" : num(p[1]), "6rem"), ...(f.compared ? [cell(p[6] === null ? "" : num(p[6]), "5.5rem")] : []), cell(e.kind === "u" ? "" : pct(p[1] * size(f, p) / (allInstructions || 1)), "4.2rem"), cell(`#${p[0]} ${wayOf(p)}`, null, "g"));
    }, { role: "listbox", label: "Paths" });
    left.append(el("h2", {}, "Paths"), rows);
    const choose = k => { at = Math.min(entries.length - 1, Math.max(0, k)); history.replaceState(null, "", `#f=${i}&${entries[at].kind}=${entries[at].k}`); draw(); rows.reveal(at); };
    const draw = () => {
      const e = entries[at], p = e.p, lines = linesOf(f, p);
      const files = [...new Set(lines.map(l => l[0]))];
      const home = f.begins && files.includes(f.begins[0]) ? f.begins[0] : files[0];
      const of = file => new Set(lines.filter(l => l[0] === file).map(l => l[1]));
      const listed = decisions(f, p);
      const items = listed.map(d => el("li", {}, d.text));
      if (e.kind === "u") items.push(el("li", { class: "warn" }, e.near ? instead(f, e, listed) : "no path ran"));
      told.replaceChildren(...items);
      const tabs = el("span", {});
      const put = file => {
        const box = file === undefined ? el("p", {}, "No debug information") : source(file, of(file));
        middle.replaceChildren(el("h2", {}, "Source ", tabs), box, told);
        tabs.replaceChildren(...files.map(n => el("button", { type: "button", "aria-pressed": n === file ? "true" : "false", onclick: () => put(n) }, (n === file ? "▸ " : "") + short(D.files[n]))));
        const first = lines.find(l => l[0] === file);
        if (first) requestAnimationFrame(() => box.reveal(box.at(first[1])));
      };
      put(home);
      const pic = picture(f, p);
      right.replaceChildren(el("h2", {}, "Control flow ", el("button", { type: "button", onclick: () => save(pic.firstChild, f.symbol) }, "SVG")), pic);
      shown = { f: i, kind: e.kind, p: e.k, lines, blocks: p[4], decisions: listed };
      rows.redraw();
    };
    draw();
    requestAnimationFrame(() => rows.reveal(at));
    view.step = d => choose(at + d);
    view.next = d => { const order = wanted(); const n = order[order.indexOf(i) + d]; if (n !== undefined) go(`f=${n}`); };
    return [head, el("div", { class: "panes" }, left, middle, right)];
  };
  const instead = (f, e, listed) => {
    const [id, count, common] = e.near;
    const block = common ? e.p[4][common - 1] : null, d = listed.find(d => d.block === block);
    return `#${id} ran ${num(count)} times` + (d ? ` and goes another way at ${d.text.split(" → ")[0]}` : " and starts elsewhere") + (e.fresh ? "" : "; each step ran on some path");
  };

  const view = { step: null, next: null };
  const TABS = [["overview", "Overview"], ["functions", "Functions"], ["sources", "Sources"], ["flame", "Flame graph"], ["coverage", "Coverage"]];
  const route = () => {
    const hash = location.hash.slice(1), at = new URLSearchParams(hash);
    view.step = view.next = null;
    shown = null;
    let content, tab = hash || "overview";
    if (at.has("f")) { tab = "functions"; content = functionView(+at.get("f"), at.has("u") ? "u" : "p", +(at.get("u") || at.get("p") || 0)); }
    else if (at.has("file")) { tab = "sources"; content = sourcesView(+at.get("file")); }
    else if (tab === "functions") content = functions();
    else if (tab === "sources") content = sourcesView(null);
    else if (tab === "flame") content = flameView();
    else if (tab === "coverage") content = coverageView();
    else { tab = "overview"; content = overview(); }
    $("tabs").replaceChildren(...TABS.map(([id, name]) => el("a", { href: "#" + id, "aria-current": tab === id ? "page" : null }, name)));
    main.replaceChildren(...content);
    for (const box of main.querySelectorAll(".list")) box.redraw();
  };
  const theme = () => {
    const dark = matchMedia("(prefers-color-scheme:dark)").matches, now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  };
  $("theme").onclick = theme;
  $("help").onclick = () => $("keys").showModal();
  $("search").oninput = () => { if (location.hash !== "#functions") go("functions"); else route(); };
  addEventListener("hashchange", route);
  addEventListener("keydown", e => {
    if (e.target.tagName === "INPUT") { if (e.key === "Escape") e.target.blur(); if (e.key === "Enter" && wanted().length) { e.target.blur(); go(`f=${wanted()[0]}`); } return; }
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key], over = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    const tab = { o: "overview", f: "functions", s: "sources", g: "flame", c: "coverage", Escape: "functions" }[e.key];
    if (by && view.step) { view.step(by); e.preventDefault(); }
    else if (over && view.next) { view.next(over); e.preventDefault(); }
    else if (e.key === "/") { $("search").focus(); e.preventDefault(); }
    else if (e.key === "t") theme();
    else if (e.key === "?") $("keys").showModal();
    else if (tab) go(tab);
  });
  // For tests: what is drawn.
  window.p3 = { data: D, shown: () => shown, route, go };
  route();
  document.documentElement.dataset.ready = "1";
})().catch(e => { document.getElementById("main").textContent = "The page cannot be drawn: " + e; console.error(e); });
