// Draws the data of a profile: the structures of `src/report/html/data.rs` and `paths.rs`, by their names.
(async () => {
  const $ = id => document.getElementById(id);
  const main = $("main");
  const inflate = async text => {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const D = await inflate(window.P3_DATA || $("data").textContent);
  const F = D.functions, B = D.baseline;
  const go = hash => { location.hash = hash; };
  let system = false;

  // What one row of threads ran, in place of what all did; what is covered stays that of all.
  const T = D.threads || [], thread = Number(new URLSearchParams(location.search).get("thread") ?? -1);
  const choose = n => { location.search = n === null ? "" : `?thread=${n}`; };
  if (T[thread]) {
    for (const f of F) {
      f.entered = f.left = 0;
      for (const b of f.blocks) { b.count = 0; for (const e of b.edges) e.count = 0; }
      for (const p of f.paths) {
        p.count = (p.threads || []).reduce((n, [t, k]) => t === thread ? k : n, 0);
        if (!p.start) f.entered += p.count;
        p.blocks.forEach((b, i) => { f.blocks[b].count += p.count; if (i < p.succs.length) f.blocks[b].edges[p.succs[i]].count += p.count; });
      }
    }
  }
  const threadName = t => T[t].name + (T[t].others ? " and others" : "");
  // Which threads ran a path, those that ran it most first.
  const ranBy = p => {
    const by = [...p.threads || []].sort((a, b) => b[1] - a[1] || a[0] - b[0]), all = by.reduce((n, [, k]) => n + k, 0);
    return by.slice(0, 6).map(([t, k]) => `${T[t].name} ${pct(k / all)}`).join(", ") + (by.length > 6 ? `, and ${by.length - 6} more` : "");
  };

  // Sums over functions and paths.
  let allPaths = 0, allInstructions = 0, distinct = 0;
  const hottest = [];
  F.forEach((f, i) => {
    f.count = f.instructions = f.ran = 0;
    f.paths.forEach((p, j) => {
      f.count += p.count;
      f.instructions += p.work = p.count * p.size;
      if (p.count > 0) { f.ran++; hottest.push([i, j]); }
    });
    distinct += f.ran;
    allPaths += f.count;
    allInstructions += f.instructions;
  });
  const share = work => work / (allInstructions || 1);
  const shareBefore = work => work / (B && B.instructions || 1);
  hottest.sort((a, b) => F[b[0]].paths[b[1]].work - F[a[0]].paths[a[1]].work);
  // By how much the share of a function or path of both profiles changed.
  const same = f => f.before.same;
  const changeOf = f => same(f) ? share(f.instructions) - shareBefore(same(f).instructions) : null;
  const changeOfPath = p => p.before ? share(p.work) - shareBefore(p.before.instructions) : null;
  const byChange = (a, b) => Math.abs(b ?? 0) - Math.abs(a ?? 0);
  const change = x => x === null ? "" : points(x);

  // Of a line the most often executed block of each function counts. A file's heat: instructions of its blocks.
  const lines = D.files.map(() => new Map()), heat = D.files.map(() => 0);
  F.forEach((f, i) => {
    for (const b of f.blocks) {
      for (const s of b.spans) {
        heat[s.file] += b.count * b.size / b.spans.length;
        const at = lines[s.file].get(s.line) || { by: new Map(), open: false };
        at.open ||= Boolean(b.open);
        at.by.set(i, Math.max(at.by.get(i) || 0, b.count));
        lines[s.file].set(s.line, at);
      }
    }
  });
  for (const of of lines) for (const at of of.values()) { at.n = 0; for (const c of at.by.values()) at.n += c; }

  // Paths in words.
  const asked = r => r.library !== undefined ? [`⋯ ${r.library} step${r.library === 1 ? "" : "s"} in ${r.names}${r.note ? ", " + r.note : ""}`] : [r.text || r.place, r.outcome];
  const told = r => asked(r).filter(Boolean).join(" ");
  const outcome = text => text ? el("b", { class: "o " + kind(text) }, text) : null;
  const short = r => { const [text, out] = asked(r); return el("span", { class: "st" }, el("span", { class: "tx" }, text), outcome(out)); };
  const lastTwo = (f, p) => {
    const rows = p.rows.map(k => f.rows[k]), steps = rows.filter(r => r.library === undefined);
    return (steps.length ? steps : rows).slice(-2);
  };
  const where = f => f.begins ? `${base(D.files[f.begins.file].name)}:${f.begins.line}` : f.module;
  const linesOf = (f, p) => {
    const seen = new Map();
    for (const b of p.blocks) for (const s of f.blocks[b].spans) { if (!seen.has(s.file)) seen.set(s.file, new Set()); seen.get(s.file).add(s.line); }
    return seen;
  };

  // The text of a file. `options.lit`: lines of a path; `options.said`: outcomes by line; `options.own`: lines of the function.
  const rowsOf = remembering(file => {
    const { text } = D.files[file], of = lines[file];
    const rows = text === null ? [...of.keys()].sort((a, b) => a - b).map(n => [n, ""]) : text.replace(/\n$/, "").split("\n").map((t, i) => [i + 1, t.replace(/\t/g, "    ")]);
    return { rows, index: new Map(rows.map((r, i) => [r[0], i])), most: Math.log1p([...of.values()].reduce((m, a) => Math.max(m, a.n), 1)), widest: Math.min(400, rows.reduce((w, r) => Math.max(w, r[1].length), 0)), excluded: new Set(D.files[file].excluded) };
  });
  const source = (file, options = {}) => {
    const { name } = D.files[file], of = lines[file], lit = options.lit || new Set(), said = options.said || new Map(), own = options.own;
    const { rows, index, most, widest, excluded } = rowsOf(file);
    const row = i => {
      const [n, t] = rows[i], at = of.get(n);
      const heated = at && at.n ? `background:rgba(var(--hot),${(.45 * Math.log1p(at.n) / most).toFixed(3)})` : null;
      const left = excluded.has(n);
      const title = left ? "A marker leaves this line out of coverage" : at && at.open ? "It may have run more often: not all executions of it are counted" : null;
      const count = !at ? "" : at.n ? least(at.n, at.open) : left ? "excluded" : at.open ? "?" : "–";
      const outside = own && (n < own[0] || n > own[1]) && !lit.has(n);
      return el("div", { class: "row" + (lit.has(n) ? " lit" : "") + (outside ? " outside" : "") + (n === options.at ? " at" : ""), "data-line": n, onclick: () => { if (options.click && at) options.click(n, at); } },
        cell(n, null, "n ln"), el("span", { class: "n ct", style: heated, title }, count),
        el("span", { class: "mg" }, (said.get(n) || []).map(([o, k]) => el("b", { class: "o " + kind(o), title: o }, o + (k > 1 ? "×" + k : "")))), el("span", { class: "tx" }, t));
    };
    const printed = own ? [(index.get(own[0]) ?? 0) - 2, (index.get(own[1]) ?? rows.length - 1) + 2] : undefined;
    const box = list(null, rows.length, 18, row, { class: "code", label: `Source ${name}`, style: options.style, printed, all: 300, open: options.click && (i => { const at = of.get(rows[i][0]); if (at) options.click(rows[i][0], at); }) });
    box.querySelector(".body").style.minWidth = `calc(${widest}ch + ${own ? 15 : 11}rem)`;
    box.index = n => index.get(n) ?? Math.max(0, rows.findIndex(r => r[0] >= n));
    box.mark = n => { options.at = n; box.reveal(box.index(n)); box.redraw(); };
    return box;
  };

  const of = (rows, most) => rows.length > most ? `: ${num(most)} of ${num(rows.length)}` : "";
  const started = D.runs.reduce((a, b) => a + b, 0), processes = `${num(started)} process${started === 1 ? "" : "es"}`;
  const ending = n => n == 1 ? "" : "s";
  const fact = (n, what) => el("div", {}, el("b", {}, n), el("span", {}, what));
  const warnings = () => {
    const a = D.about, said = [...D.selection ? [D.selection] : [], ...a.incomplete, ...a.differing_copies, ...a.violations.map(v => `${v.name}: ${v.problem}`), ...D.changed];
    return said.length ? [el("h2", {}, "Warnings"), el("ul", { class: "warn" }, said.map(s => el("li", {}, s)))] : [];
  };
  const view = {};
  const shownAs = box => { view.list = box; return box; };

  // Functions: those that match the search and are not code of the system, by share, or by change.
  const visible = i => system || !F[i].system;
  const orderOf = remembering((typed, shows) => {
    const matches = i => !typed || F[i].full.toLowerCase().includes(typed) || F[i].symbol.toLowerCase().includes(typed);
    const order = F.map((_, i) => i).filter(i => matches(i) && (typed || shows || !F[i].system));
    return order.sort((a, b) => (B ? byChange(changeOf(F[a]), changeOf(F[b])) : 0) || F[b].instructions - F[a].instructions || a - b);
  });
  const wanted = () => orderOf($("search").value.trim().toLowerCase(), system);
  const beforeCell = f => same(f) ? pct(shareBefore(same(f).instructions)) : f.before === "changed" ? "other code" : "new";
  const functionRows = (order, height) => list(
    heads(cell("share", "4.5rem"), ...(B ? [cell("before", "5.5rem"), cell("change", "4rem")] : []), cell("", "6rem", "bar none hide"), cell("calls", "7rem", "n hide"), cell("paths ran", "5rem", "n hide"), cell("function", null, "g")), order.length, 24,
    k => {
      const f = F[order[k]], i = order[k];
      return el("div", { class: "row", onclick: () => go(`f=${i}`) }, cell(pct(share(f.instructions)), "4.5rem"), ...(B ? [cell(beforeCell(f), "5.5rem"), cell(change(changeOf(f)), "4rem")] : []),
        el("span", { class: "hide" }, bar(share(f.instructions))), cell(f.open && !f.entered ? "?" : least(f.entered, f.open), "7rem", "n hide"), cell(f.unselected ? "?" : num(f.ran), "5rem", "n hide"),
        el("a", { class: "g", href: `#f=${i}`, title: f.full }, f.name, el("span", { class: "dim" }, "  " + where(f) + (f.unselected ? " · " + UNSELECTED : "") + (f.status === "exact" ? "" : " · " + f.status))));
    }, { style: `max-height:${height}`, label: "Functions", open: k => go(`f=${order[k]}`) });
  const pathRows = (rows, height) => list(
    heads(cell("share", "4.5rem"), ...(B ? [cell("before", "4.5rem"), cell("change", "4rem")] : []), cell("", "6rem", "bar none hide"), cell("count", "7rem", "n hide"), cell("path", null, "g")), rows.length, 24,
    k => {
      const [i, j] = rows[k], f = F[i], p = f.paths[j], two = lastTwo(f, p);
      return el("div", { class: "row", onclick: () => go(`f=${i}&p=${j}`) }, cell(pct(share(p.work)), "4.5rem"), ...(B ? [cell(p.before ? pct(shareBefore(p.before.instructions)) : "", "4.5rem"), cell(change(changeOfPath(p)), "4rem")] : []),
        el("span", { class: "hide" }, bar(share(p.work))), cell(least(p.count, p.open), "7rem", "n hide"),
        el("a", { class: "g", href: `#f=${i}&p=${j}` }, f.name, p.start ? el("span", { class: "dim" }, " · " + p.start) : null), el("span", { class: "g two" }, two.map(short)));
    }, { style: `height:${height}`, label: "Hottest paths", open: k => go(`f=${rows[k][0]}&p=${rows[k][1]}`) });
  const hotPaths = remembering(shows => {
    const rows = hottest.filter(([i]) => shows || !F[i].system);
    if (!B) return rows;
    const gone = F.flatMap((f, i) => f.paths.map((p, j) => [i, j]).filter(([, j]) => !f.paths[j].count && visible(i)));
    return rows.concat(gone).sort((a, b) => byChange(changeOfPath(F[a[0]].paths[a[1]]), changeOfPath(F[b[0]].paths[b[1]])));
  });
  const hidden = () => {
    const n = F.filter(f => f.system && f.instructions > 0), all = F.some(f => f.system);
    return all ? el("button", { type: "button", "aria-pressed": String(system), onclick: () => { system = !system; route(); } }, system ? "Hide code of the system" : `Show code of the system (${num(n.length)} functions ran, ${pct(share(n.reduce((s, f) => s + f.instructions, 0)))})`) : null;
  };
  const covered = remembering(shows => {
    const rows = F.filter(f => shows || !f.system), files = D.files.filter(f => shows || !f.system);
    const sum = (rows, of) => rows.reduce((n, f) => n + Number(of(f)), 0), both = of => [0, 1].map(k => sum(files, f => of(f)[k]));
    return { lines: both(f => f.lines), branches: both(f => f.branches), pairs: [sum(rows, f => f.ran_pairs), sum(rows, f => f.pairs)], paths: sum(rows, f => f.covered) };
  });
  const threadRows = () => T.length === 0 ? [] : [
    el("h2", {}, "Threads ", T[thread] ? el("button", { type: "button", onclick: () => choose(null) }, "Show all") : null),
    list(heads(cell("share", "4.5rem"), cell("", "6rem", "bar none hide"), cell("paths", "9rem", "n hide"), cell("threads", "5rem", "n hide"), cell("thread", null, "g")), T.length, 24, t => {
      const all = T.reduce((n, row) => n + row.instructions, 0) || 1, row = T[t];
      return el("div", { class: "row" + (t === thread ? " lit" : ""), onclick: () => choose(t) }, cell(pct(row.instructions / all), "4.5rem"), el("span", { class: "hide" }, bar(row.instructions / all)), cell(num(row.paths), "9rem", "n hide"), cell(num(row.threads), "5rem", "n hide"),
        el("span", { class: "g" }, threadName(t), row.began ? el("span", { class: "dim" }, "  began in " + row.began) : null));
    }, { style: "max-height:min(12rem,24vh)", label: "Threads", open: choose })];
  const part = ([ran, all]) => all ? pct(ran / all) : "–";
  const overview = () => {
    const ran = F.filter(f => f.count > 0), c = covered(system), rows = hotPaths(system);
    return [
      el("div", { class: "facts" }, fact(num(allInstructions), `instruction${ending(allInstructions)} executed`), fact(num(allPaths), `path${ending(allPaths)} executed`), fact(num(distinct), `different path${ending(distinct)}`), fact(`${num(ran.length)} of ${num(F.length)}`, `function${ending(F.length)} ran` + (F.some(f => f.unselected) ? `; ${num(F.filter(f => f.unselected).length)} ${UNSELECTED}` : "")),
        fact(part(c.lines), "of lines ran"), fact(part(c.branches), "of branches ran"),
        ...(B ? [fact(B.file.split("/").slice(-2).join("/"), `is the baseline: ${num(B.paths)} path${ending(B.paths)} executed`)] : [])),
      ...warnings(), ...threadRows(),
      el("h2", {}, B ? "Functions whose share changed most " : "Functions ", hidden()), shownAs(functionRows(wanted(), "min(17rem,34vh)")),
      el("h2", {}, B ? "Paths whose share changed most" : "Hottest paths", of(rows, rows.length)), pathRows(rows, "max(12rem,calc(100vh - 32rem))"),
      el("p", { class: "dim" }, `${D.about.united ? `union of ${D.about.united.join(", ")}` : `${D.about.scheme}, ${D.about.copies} cop${D.about.copies === 1 ? "y" : "ies"}`}, ${processes}; verdict: ${D.about.verdict}. Shares are of executed instructions of profiled code${B ? ", each by its own profile's total" : ""}.`)];
  };
  const functions = () => [el("h2", {}, "Functions ", hidden()), shownAs(functionRows(wanted(), "calc(100vh - 9rem)"))];
  const sourcesView = file => {
    if (file !== null) {
      if (!D.files[file]) return [el("p", {}, "No such file")];
      const box = shownAs(source(file, { style: "height:calc(100vh - 9rem)", click: (_, at) => go(`f=${[...at.by].sort((a, b) => b[1] - a[1])[0][0]}`) }));
      const first = [...lines[file]].sort((a, b) => b[1].n - a[1].n)[0];
      if (first) view.placed = () => box.reveal(box.index(first[0]));
      return [el("h2", {}, D.files[file].name), D.files[file].text === null ? el("p", { class: "dim absent" }, ABSENT) : "", box];
    }
    const rows = D.files.map((_, i) => i).filter(i => lines[i].size && (system || !D.files[i].system));
    rows.sort((a, b) => heat[b] - heat[a] || a - b);
    return [el("h2", {}, "Sources ", hidden()), shownAs(list(
      heads(cell("share", "4.5rem"), cell("", "6rem", "bar none"), cell("lines ran", "5rem", "n hide"), cell("of", "4rem", "n hide"), cell("file", null, "g")), rows.length, 24,
      k => {
        const i = rows[k], ran = [...lines[i].values()].filter(a => a.n).length;
        return el("div", { class: "row", onclick: () => go(`file=${i}`) }, cell(pct(share(heat[i])), "4.5rem"), bar(heat[i] / (heat[rows[0]] || 1)), cell(num(ran), "5rem", "n hide"), cell(num([...lines[i].values()].filter(a => a.n || !a.open).length), "4rem", "n hide"),
          el("a", { class: "g", href: `#file=${i}`, title: D.files[i].name }, D.files[i].name + (D.files[i].text === null ? " (no text)" : "")));
      }, { style: "height:calc(100vh - 9rem)", label: "Files", open: k => go(`file=${rows[k]}`) }))];
  };
  const missing = f => f.lines[1] - f.lines[0];
  const missingOf = remembering(shows => {
    const order = F.map((_, i) => i).filter(i => shows || !F[i].system);
    order.sort((a, b) => missing(F[b]) - missing(F[a]) || (F[b].branches[1] - F[b].branches[0]) - (F[a].branches[1] - F[a].branches[0]) || (F[b].pairs - F[b].ran_pairs) - (F[a].pairs - F[a].ran_pairs) || a - b);
    const ways = order.flatMap(i => F[i].uncovered.map((u, j) => ({ i, j, u })));
    const near = u => u.near ? u.near.count : -1;
    ways.sort((a, b) => a.u.new_edges - b.u.new_edges || near(b.u) - near(a.u) || a.i - b.i);
    return { order, ways };
  });
  const coverageView = () => {
    const c = covered(system), { order, ways } = missingOf(system);
    const ratio = (ran, all, width, css = "n") => el("span", { class: css, style: `width:${width}` }, `${num(ran)} / ${num(all)}`);
    return [
      el("div", { class: "facts" }, fact(part(c.lines), `lines: ${num(c.lines[0])} of ${num(c.lines[1])}`), fact(part(c.branches), `branches: ${num(c.branches[0])} of ${num(c.branches[1])}`), fact(part(c.pairs), `pairs of edges: ${num(c.pairs[0])} of ${num(c.pairs[1])}`), fact(num(c.paths), `different path${ending(c.paths)}`)),
      el("h2", {}, "Functions, most lines missing first ", hidden()),
      shownAs(list(heads(cell("", "6rem", "bar none hide"), cell("lines", "6.5rem"), cell("branches", "6.5rem"), cell("pairs", "7rem", "n hide"), cell("paths", "9rem", "n hide"), cell("function", null, "g")), order.length, 24,
        k => {
          const f = F[order[k]];
          return el("div", { class: "row", onclick: () => go(`f=${order[k]}` + (f.uncovered.length ? "&u=0" : "")) }, el("span", { class: "hide ran" }, bar(f.lines[1] ? f.lines[0] / f.lines[1] : 0)), ratio(...f.lines, "6.5rem"), ratio(...f.branches, "6.5rem"), ratio(f.ran_pairs, f.pairs, "7rem", "n hide"), f.unselected ? cell(UNSELECTED, "9rem", "n hide") : ratio(f.covered, f.feasible, "9rem", "n hide"),
            el("a", { class: "g", href: `#f=${order[k]}` + (f.uncovered.length ? "&u=0" : ""), title: f.full }, f.name, el("span", { class: "dim" }, "  " + where(f))));
        }, { style: "height:max(12rem,38vh)", label: "Coverage", open: k => go(`f=${order[k]}`) })),
      el("h2", {}, "Paths that did not run, those nearest to paths that ran first"),
      list(heads(titled("edges never taken", "How many edges of the path no path took. 0: each step ran, and only their combination is new", "9rem"), titled("nearest ran", "How often the nearest path ran from which this one parts", "7rem", "n hide"), cell("path", null, "g")), ways.length, 24,
        k => {
          const { i, j, u } = ways[k], n = u.near;
          return el("div", { class: "row", onclick: () => go(`f=${i}&u=${j}`) }, cell(u.new_edges, "9rem"), cell(n ? num(n.count) + " ×" : "", "7rem", "n hide"),
            el("a", { class: "g", href: `#f=${i}&u=${j}` }, F[i].name, el("span", { class: "dim" }, "  " + (n && n.never ? `${n.never}${n.instead ? `; ran: ${n.instead}` : ""}` : u.path.rows.length ? told(F[i].rows[u.path.rows[0]]) : ""))));
        }, { style: "height:max(12rem,calc(62vh - 15rem))", label: "Paths that did not run", open: k => go(`f=${ways[k].i}&u=${ways[k].j}`) })];
  };
  // Instructions by function, then by the steps of its paths, common beginnings together.
  const flameTree = remembering(() => {
    const root = { name: "all", value: 0, kids: new Map() };
    const add = (node, key, name, value, hash) => {
      let kid = node.kids.get(key);
      if (!kid) node.kids.set(key, kid = { name, value: 0, kids: new Map(), hash });
      kid.value += value;
      return kid;
    };
    for (const [i, j] of hottest.slice(0, 20000)) {
      const f = F[i], p = f.paths[j], w = p.work;
      root.value += w;
      let node = add(root, i, f.name, w, `f=${i}`);
      if (p.start) node = add(node, p.start, p.start, w, `f=${i}&p=${j}`);
      for (const k of p.rows.slice(0, 24)) node = add(node, k, (f.rows[k].text && f.rows[k].place ? f.rows[k].place + " " : "") + told(f.rows[k]), w, `f=${i}&p=${j}`);
    }
    return root;
  });
  const ABSENT = "The text is not there as it was compiled: p3-prof html --source-dir FOLDER, or --path-map.";
  const FLAME_KEYS = "Arrow keys choose a box, Enter opens its function.";
  const flame = remembering(width => {
    const root = flameTree(), rows = [], most = root.value || 1, boxes = [];
    let deepest = 0;
    const draw = (node, x, depth, parent) => {
      const w = width * node.value / most;
      if (w < 1) return;
      deepest = Math.max(deepest, depth);
      const hue = 20 + [...node.name].reduce((h, c) => (h * 31 + c.charCodeAt(0)) % 40, 7);
      rows.push(svg("g", {}, svg("rect", { class: "fl", x, y: depth * 20, width: w, height: 19, style: `fill:hsl(${hue} 75% 68%)`, "data-hash": node.hash || "" }, svg("title", {}, `${node.name}: ${num(node.value)} instructions, ${pct(node.value / most)}`)),
        svg("text", { x: x + 4, y: depth * 20 + 14, style: "fill:#1a1c20;pointer-events:none" }, w > 34 ? cut(node.name, Math.floor((w - 6) / 7.3)) : "")));
      const box = { node, depth, parent, rect: rows[rows.length - 1].firstChild };
      boxes.push(box);
      let at = x;
      for (const kid of [...node.kids.values()].sort((a, b) => b.value - a.value)) { draw(kid, at, depth + 1, box); at += width * kid.value / most; }
    };
    draw(root, 0, 0, null);
    const s = svg("svg", { width, height: (deepest + 1) * 20, role: "img", "aria-label": "Flame graph of paths", xmlns: "http://www.w3.org/2000/svg" }, ...rows);
    s.addEventListener("click", e => { const h = e.target.getAttribute && e.target.getAttribute("data-hash"); if (h) go(h); });
    const told = el("p", { class: "dim", role: "status" }, FLAME_KEYS), frame = el("div", { class: "flame", tabindex: 0, role: "group", "aria-label": "Flame graph: arrow keys choose a box, Enter opens its function" }, s);
    let chosen = null;
    const choose = box => {
      if (!box) return;
      if (chosen) chosen.rect.classList.remove("at");
      chosen = box;
      box.rect.classList.add("at");
      box.rect.scrollIntoView({ block: "nearest", inline: "nearest" });
      told.textContent = `${box.node.name}: ${num(box.node.value)} instructions, ${pct(box.node.value / most)}`;
    };
    frame.addEventListener("keydown", e => {
      const n = chosen ? boxes.indexOf(chosen) : -1, beside = boxes.filter(b => chosen && b.depth === chosen.depth), k = beside.indexOf(chosen);
      const to = { ArrowDown: boxes.slice(n + 1).find(b => b.parent === chosen), ArrowUp: chosen && chosen.parent, ArrowRight: beside[k + 1], ArrowLeft: beside[k - 1] };
      if (e.key === "Enter" && chosen && chosen.node.hash) go(chosen.node.hash);
      else if (e.key in to) choose(chosen ? to[e.key] : boxes[0]);
      else return;
      e.preventDefault();
      e.stopPropagation();
    });
    return { s, told, frame };
  });
  const flameView = () => {
    const { s, told, frame } = flame(Math.max(600, main.clientWidth - 30));
    return [el("h2", {}, "Instructions by function and path" + of(hottest, 20000) + " ", el("button", { type: "button", onclick: () => save(s, "flame") }, "SVG")), frame, told];
  };

  // One function: its paths, its source, its control flow, and the steps of the chosen path.
  let shown = null;
  const entriesOf = f => {
    const ran = f.paths.map((p, k) => ({ kind: "p", k, p })).filter(e => !T[thread] || e.p.count), key = e => e.p.work;
    ran.sort((a, b) => B ? byChange(changeOfPath(a.p), changeOfPath(b.p)) || key(b) - key(a) : key(b) - key(a) || a.k - b.k);
    const never = f.uncovered.map((u, k) => ({ kind: "u", k, p: u.path, u }));
    const near = e => e.u.near ? e.u.near.count : -1;
    never.sort((a, b) => a.u.new_edges - b.u.new_edges || near(b) - near(a) || a.k - b.k);
    return ran.concat(never);
  };
  // Paths whose last two decisions read alike: for each, the first decision on which it parts from one of the others.
  const partings = (f, entries) => {
    const alike = new Map(), parts = new Map();
    for (const e of entries) {
      const key = [e.p.start, ...lastTwo(f, e.p).map(told)].join("\n");
      if (alike.has(key)) alike.get(key).push(e); else alike.set(key, [e]);
    }
    for (const group of alike.values()) {
      const least = rows => (n, e) => { let i = 0; while (i < n && e.p.rows[i] === rows[i]) i++; return i; };
      const at = group.length > 1 ? group.slice(1).reduce(least(group[0].p.rows), group[0].p.rows.length) : Infinity;
      for (const e of group) if (at < e.p.rows.length - 2) parts.set(e, { row: f.rows[e.p.rows[at]], skips: at < e.p.rows.length - 3 });
    }
    return parts;
  };
  const pathEntry = (f, e, parting, room) => {
    const p = e.p, s = share(p.work), two = lastTwo(f, p);
    const head = e.kind === "u" ? [el("b", { class: "warn" }, "never ran"), el("span", { class: "dim" }, e.u.new_edges ? `${e.u.new_edges} edge${e.u.new_edges === 1 ? "" : "s"} never taken` : "each step ran")]
      : B ? [el("b", {}, `${p.before ? pct(shareBefore(p.before.instructions)) + " → " : ""}${pct(s)}`), el("span", { class: "ch" }, change(changeOfPath(p))), el("span", { class: "ct" }, least(p.count, p.open) + " ×")]
        : [el("b", { class: "sh" }, pct(s)), bar(s / (f.instructions / (allInstructions || 1) || 1)), el("span", { class: "ct" }, (p.known ? "known · " : "") + least(p.count, p.open) + " ×")];
    return [el("div", { class: "top" }, head), parting ? el("div", { class: "dec" }, short(parting.row), parting.skips ? " ⋯" : null) : null, two.length + (parting ? 1 : 0) < room ? el("div", { class: "dec dim" }, p.start ? "from the " + p.start : "from the beginning") : null, ...two.map(r => el("div", { class: "dec" }, short(r)))];
  };
  const instead = (f, u) => {
    if (!u.near) return f.open ? "No selected path of this function ran." : "No path of this function ran.";
    const { id, count, instead } = u.near;
    return `Nearest: #${id} ran ${count === 1 ? "once" : num(count) + " times"}` + (instead ? `, with ${instead}` : ", and starts elsewhere") + (u.new_edges ? "" : "; each step ran on some path");
  };
  const stepItems = (f, p, open) => {
    let within;
    return p.rows.map((k, n) => {
      const r = f.rows[k];
      if (r.library !== undefined) return el("li", { class: "fold" }, told(r));
      const name = r.within && r.within !== within ? el("span", { class: "in" }, "⤷ " + r.within + "  ") : null;
      within = r.within;
      return el("li", {}, el("button", { type: "button", "data-step": n, disabled: r.file === undefined, onclick: () => open(n) }, el("span", { class: "pl" }, r.place), el("span", { class: "tx" }, name, r.text, r.times > 1 ? "  ×" + r.times : ""), outcome(r.outcome) || el("span"), el("span", { class: "dim" }, r.note || "")));
    });
  };
  // What a path decides in each line of a file, in order.
  const saidIn = (f, p, file) => {
    const said = new Map();
    for (const k of p.rows) {
      const r = f.rows[k];
      if (r.file !== file || !r.outcome || r.outcome.startsWith("→")) continue;
      const here = said.get(r.line) || [], last = here[here.length - 1];
      if (last && last[0] === r.outcome) last[1] += r.times; else here.push([r.outcome, r.times]);
      said.set(r.line, here);
    }
    return said;
  };
  const ownLines = f => {
    if (!f.begins) return null;
    const own = f.blocks.flatMap(b => b.spans).filter(s => s.file === f.begins.file && !s.inlined && s.line).map(s => s.line);
    return [f.begins.line, own.reduce((a, b) => Math.max(a, b), f.begins.line)];
  };
  const facts = f => `${pct(share(f.instructions))} of instructions` + (same(f) ? ` (${pct(shareBefore(same(f).instructions))} before)` : B ? ` (baseline: ${f.before === "changed" ? "other code" : "no such function"})` : "")
    + (f.unselected ? " · " + UNSELECTED : f.open && !f.entered ? "" : ` · ${least(f.entered, f.open)} call${f.entered === 1 && !f.open ? "" : "s"}`)
    + (f.unselected ? "" : ` · ${num(f.ran)} of ${num(f.feasible)} ${D.selection ? "counted paths" : "paths"} ran, ${num(f.count)} times`)
    + (f.contradictory ? ` · ${num(f.contradictory)} more left out, which cannot run`
      : f.contradictory_near ? ` · left out: ${num(f.contradictory_near)} paths one decision away from paths that ran, which cannot run` : "")
    + (f.refuted ? ` · left out: ${f.refuted} path${f.refuted === 1 ? "" : "s"} whose code shows that ${f.refuted === 1 ? "it" : "they"} cannot run` : "")
    + (f.aborting ? ` · left out: ${f.aborting} path${f.aborting === 1 ? " that ends" : "s that end"} in abort or a failed assertion` : "")
    + (f.left ? ` · left before its end ${f.left === 1 ? "once" : num(f.left) + " times"}` : "") + (f.status === "exact" ? "" : f.status === "cut" ? " · cut: too many paths, which are counted in pieces" : ` · ${f.status}`)
    + (f.branchless.length ? ` · ${f.branchless.length} line${f.branchless.length === 1 ? "" : "s"} with conditions that became values and not branches (${f.branchless.slice(0, 6).join(", ")})` : "");
  const functionView = (i, kindAt, j) => {
    const f = F[i];
    if (!f) return [el("p", {}, "No such function")];
    const entries = entriesOf(f), head = el("div", { class: "headline" }, el("h2", { title: f.full }, f.name, el("span", { class: "dim" }, "  " + where(f))), el("p", { class: "dim" }, facts(f)));
    if (!entries.length) return [head, el("p", {}, f.unselected ? "No path of it is selected: whether any ran is not known." : f.status !== "exact" ? f.status : f.open ? "No selected path ran." : "No path ran.")];
    let at = j === null ? 0 : Math.max(0, entries.findIndex(e => e.kind === kindAt && e.k === j)), file = null, code = null, step = -1, pic = null;
    const own = ownLines(f), state = {};
    const left = el("section", { class: "paths" }), middle = el("section", { class: "source" }), right = el("section", { class: "flow" });
    const steps = el("ol", { class: "steps", "aria-label": "Steps of the path" });
    const parts = partings(f, entries), height = parts.size ? 87 : 68;
    const rows = list(null, entries.length, height, k => el("div", { class: "row entry", style: `height:${height}px`, role: "option", "aria-selected": k === at ? "true" : "false", "data-path": entries[k].kind + entries[k].k, onclick: () => choose(k) }, pathEntry(f, entries[k], parts.get(entries[k]), parts.size ? 3 : 2)), { role: "listbox", label: "Paths", printed: [0, Math.min(20, entries.length)] });
    left.append(el("h2", {}, B ? "Paths by change" : "Paths"), rows);
    const choose = k => { at = Math.min(entries.length - 1, Math.max(0, k)); step = -1; history.replaceState(null, "", `#f=${i}&${entries[at].kind}=${entries[at].k}`); draw(); rows.reveal(at); };
    const openStep = n => {
      const p = entries[at].p, r = f.rows[p.rows[n]];
      if (!r) return;
      step = n;
      for (const b of steps.querySelectorAll("button")) b.classList.toggle("at", +b.dataset.step === n);
      if (r.file === undefined) return;
      if (r.file !== file) put(r.file);
      if (code) code.mark(r.line);
    };
    const put = n => {
      const p = entries[at].p, lit = linesOf(f, p), kept = n === file && code ? code.scrollTop : null;
      const files = [...new Set([...(f.begins ? [f.begins.file] : []), ...lit.keys()])];
      file = n;
      const tabs = files.map(k => el("button", { type: "button", "aria-pressed": String(k === n), title: D.files[k].name, onclick: () => put(k) }, base(D.files[k].name)));
      const mine = own && n === f.begins.file ? own : null;
      code = n === undefined ? null : source(n, { lit: lit.get(n), said: saidIn(f, p, n), own: mine });
      middle.replaceChildren(...[el("h2", {}, "Source ", el("span", { class: "tabs" }, tabs)), code && D.files[n].text === null ? el("p", { class: "dim absent" }, ABSENT) : null, code || el("p", {}, "No debug information"), el("h2", { class: "one" }, `Path #${p.id}`, el("span", { class: "dim" }, ` ${num(p.size)} instructions${p.start ? " · " + p.start : ""} · ${p.end}`)), p.threads ? el("p", { class: "dim" }, "Ran in " + ranBy(p)) : null, steps].filter(Boolean));
      if (!code) return;
      const begin = () => {
        const first = Math.min(...(lit.get(n) || [Infinity]));
        if (kept !== null) { code.scrollTop = kept; code.show(); }
        else if (mine) {
          code.top(code.index(mine[0]) - 1);
          // Of a path in the middle of a long function, nothing would be in sight.
          const inside = [...lit.get(n) || []].filter(k => k >= mine[0] && k <= mine[1]);
          if (inside.length && !inside.some(k => code.sees(code.index(k)))) code.top(code.index(inside.reduce((a, b) => Math.min(a, b))) - 3);
        }
        else code.reveal(code.index(first));
      };
      view.placed = begin;
      if (code.isConnected) begin();
    };
    const flow = () => {
      pic = picture(f, entries[at].p, state);
      const button = (text, title, act, pressed) => el("button", { type: "button", title, "aria-label": title, "aria-pressed": pressed, onclick: act }, text);
      const mode = m => () => { Object.assign(state, { mode: m, moved: false }); flow(); };
      right.replaceChildren(el("h2", {}, "Control flow ", el("span", { class: "tabs" }, button("Path", "The path, what it leaves aside folded", mode("path"), String(state.mode === "path")), button("Function", "All blocks", mode("all"), String(state.mode === "all")),
        button("−", "Smaller", () => pic.zoom(1 / 1.25)), button("+", "Larger", () => pic.zoom(1.25)), button("Fit", "Fit to the path", () => pic.fit()), button("SVG", "Save as SVG", () => save(pic.firstChild, f.symbol)))), pic);
      if (pic.isConnected) pic.place();
      for (const way of pic.querySelectorAll(".side")) way.addEventListener("click", mode("all"));
    };
    const draw = () => {
      const e = entries[at], p = e.p;
      steps.replaceChildren(...stepItems(f, p, openStep), ...(e.kind === "u" ? [el("li", { class: "fold warn" }, instead(f, e.u)), e.u.example ? el("li", { class: "fold" }, "e.g. " + e.u.example) : ""] : []));
      const first = [...linesOf(f, p).keys()][0];
      put(file !== null && (file === (f.begins || {}).file || linesOf(f, p).has(file)) ? file : f.begins ? f.begins.file : first);
      if (!state.zoomed) state.moved = false;
      flow();
      shown = { f: i, kind: e.kind, p: e.k, lines: [...linesOf(f, p)].map(([n, of]) => [D.files[n].name, [...of]]), blocks: p.blocks };
      rows.redraw();
    };
    draw();
    const begin = view.placed;
    Object.assign(view, {
      placed: () => { if (begin) begin(); rows.reveal(at); pic.place(); },
      step: d => choose(at + d), next: d => { const order = wanted(), n = order[order.indexOf(i) + d]; if (n !== undefined) go(`f=${n}`); },
      decision: d => { const p = entries[at].p; let n = step + d; while (f.rows[p.rows[n]] && f.rows[p.rows[n]].library !== undefined) n += d; openStep(n); },
      zoom: k => { state.zoomed = true; pic.zoom(k); }, fit: () => pic.fit(), mode: () => { Object.assign(state, { mode: state.mode === "path" ? "all" : "path", moved: false }); flow(); },
    });
    return [head, el("div", { class: "panes" }, left, middle, right)];
  };

  const TABS = [["overview", "Overview"], ["functions", "Functions"], ["sources", "Sources"], ["flame", "Flame graph"], ["coverage", "Coverage"]];
  const route = () => {
    const hash = location.hash.slice(1), at = new URLSearchParams(hash);
    for (const key of Object.keys(view)) delete view[key];
    shown = null;
    let content, tab = hash || "overview", kindAt = at.has("u") ? "u" : "p";
    // Links name a function by its number, or, for people, by its symbol.
    const named = f => /^\d+$/.test(f) ? +f : F.findIndex(g => g.symbol === f);
    if (at.has("f")) { tab = "functions"; content = functionView(named(at.get("f")), kindAt, at.has(kindAt) ? +at.get(kindAt) : null); }
    else if (at.has("file")) { tab = "sources"; content = sourcesView(+at.get("file")); }
    else if (tab === "functions") content = functions();
    else if (tab === "sources") content = sourcesView(null);
    else if (tab === "flame") content = flameView();
    else if (tab === "coverage") content = coverageView();
    else { tab = "overview"; content = overview(); }
    $("tabs").replaceChildren(...TABS.map(([id, name]) => el("a", { href: "#" + id, "aria-current": tab === id ? "page" : null }, name)));
    main.classList.toggle("fill", at.has("f"));
    if (T[thread]) content.unshift(el("p", { class: "warn" }, `Only what ${threadName(thread)} ran; coverage is that of all threads. `, el("button", { type: "button", onclick: () => choose(null) }, "All threads")));
    main.replaceChildren(...content);
    for (const box of main.querySelectorAll(".list")) box.show();
    // What depends on how large things are drawn.
    if (view.placed) view.placed();
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
    if (e.ctrlKey || e.metaKey || e.altKey || $("keys").open) return;
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key], over = { ArrowRight: 1, ArrowLeft: -1 }[e.key], step = { "]": 1, "[": -1 }[e.key];
    const tab = { o: "overview", f: "functions", s: "sources", g: "flame", c: "coverage", Escape: "functions" }[e.key];
    const focused = e.target.closest && e.target.closest(".list"), box = focused && focused.opens ? focused : view.list;
    const zoom = { "+": 1.25, "=": 1.25, "-": 1 / 1.25 }[e.key];
    if (by && view.step) { view.step(by); e.preventDefault(); }
    else if (by && box && box.opens) { box.move(by); view.list = box; e.preventDefault(); }
    else if (e.key === "Enter" && box && !["A", "BUTTON"].includes(e.target.tagName)) box.open();
    else if (over && view.next) { view.next(over); e.preventDefault(); }
    else if (step && view.decision) view.decision(step);
    else if (zoom && view.zoom) view.zoom(zoom);
    else if (e.key === "0" && view.fit) view.fit();
    else if (e.key === "p" && view.mode) view.mode();
    else if (e.key === "/") { $("search").focus(); e.preventDefault(); }
    else if (e.key === "t") theme();
    else if (e.key === "y") { system = !system; route(); }
    else if (e.key === "?") $("keys").showModal();
    else if (tab) go(tab);
  });
  // For tests: what is drawn.
  window.p3 = { data: D, shown: () => shown, route, go };
  route();
  document.documentElement.dataset.ready = "1";
})().catch(e => { document.getElementById("main").textContent = "The page cannot be drawn: " + e; console.error(e); });
