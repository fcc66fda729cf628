//! `p3-prof html` in a browser without a screen: every path lights its lines and blocks, nothing goes wrong, and axe
//! finds no barrier. Run by `make test-viewers`.

use crate::export::{DEBUG, profiled, read, text};
use crate::support::{PROF, module, parsed, run, run_and_profile};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The page of a profile in one file.
fn page(profile: &Path, options: &[&str]) -> PathBuf {
    let out = profile.with_extension("html");
    let mut html = Command::new(PROF);
    html.arg("html")
        .arg(profile)
        .args(["--single", "-o"])
        .arg(&out);
    run(html.args(options));
    out
}

/// The profile of a program of one source.
fn compiled(name: &str, source: &str, dir: &Path) -> PathBuf {
    let modules = [module(name, source, &["-O0", "-g"], dir)];
    let options = ["--scheme", "sbl"];
    run_and_profile(&modules, &options, 1, &[], dir)
}

/// What a page says after `script` has run in it, which writes to `#result`.
fn in_browser(page: &Path, script: &str, dir: &Path) -> Value {
    let driven = page.with_extension("driven.html");
    let watch = "<script>window.wrong=[];addEventListener('error',e=>wrong.push(e.message));\
        addEventListener('unhandledrejection',e=>wrong.push(String(e.reason)));\
        console.error=(...a)=>wrong.push(a.join(' '));</script>";
    let wait = "const wait=async()=>{while(!document.documentElement.dataset.ready)await new \
        Promise(r=>setTimeout(r,20));};";
    let drive = format!(
        "<script>(async()=>{{{wait}await wait();let \
        result;try{{result=await(async()=>{{{script}}})();}}catch(e){{wrong.push(String(e));}}\
         const pre=document.createElement('pre');pre.id='result';\
         pre.textContent=encodeURIComponent(JSON.stringify({{result,wrong}}));document.body.append(pre);}})();</script>"
    );
    let html = read(page).replacen("<head>", &format!("<head>{watch}"), 1);
    std::fs::write(
        &driven,
        html.replacen("</body>", &format!("{drive}</body>"), 1),
    )
    .unwrap();
    let mut browser = Command::new("chromium");
    browser.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-quic",
    ]);
    browser.args([
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1400,1000",
    ]);
    browser.args(["--virtual-time-budget=30000", "--dump-dom"]);
    browser.arg(format!("--user-data-dir={}", dir.join("browser").display()));
    let dom = text(run(browser.arg(format!("file://{}", driven.display()))));
    let said = dom.split("<pre id=\"result\">").nth(1).expect("a result");
    let said = said.split("</pre>").next().unwrap();
    let bytes = said
        .split('%')
        .enumerate()
        .fold(Vec::new(), |mut out, (i, part)| {
            let (code, rest) = if i == 0 {
                (None, part)
            } else {
                (Some(&part[..2]), &part[2..])
            };
            out.extend(code.map(|c| u8::from_str_radix(c, 16).unwrap()));
            out.extend(rest.as_bytes());
            out
        });
    let value = parsed(&bytes);
    assert_eq!(value["wrong"], serde_json::json!([]), "{value:#}");
    value["result"].clone()
}

/// Goes through all paths, and says what is lit in the source and in the picture, and what is told.
const EVERY_PATH: &str = r"
    const out = [];
    for (let f = 0; f < p3.data.functions.length; f++) {
        const F = p3.data.functions[f];
        for (let j = 0; j < F.paths.length; j++) {
            history.replaceState(null, '', `#f=${f}&p=${j}`);
            p3.route();
            const lines = new Set(), margins = [];
            const tabs = () => document.querySelectorAll('.source .tabs button');
            for (let t = 0; t < Math.max(1, tabs().length); t++) {
                if (tabs()[t]) tabs()[t].click();
                const code = document.querySelector('.code');
                const name = code ? code.getAttribute('aria-label').slice(7) : '';
                for (const row of document.querySelectorAll('.code .row.lit')) lines.add(name + ':' + row.dataset.line);
                for (const row of document.querySelectorAll('.code .row'))
                    for (const o of row.querySelectorAll('.mg .o'))
                        margins.push([name + ':' + row.dataset.line, o.title]);
            }
            const blocks = [...document.querySelectorAll('.pic .b.lit')].flatMap(b =>
                b.dataset.blocks.split(' ').map(Number));
            const steps = [...document.querySelectorAll('.steps li')].map(l => {
                const text = s => (l.querySelector(s) || {}).textContent || '';
                return { text: text('.tx').replace(/^⤷ .*?  /, ''), outcome: text('.o'), place: text('.pl') };
            });
            out.push({ name: F.symbol, id: F.paths[j].id, count: F.paths[j].count, lines: [...lines], blocks, steps,
                margins });
        }
    }
    return out;";

fn strings(value: &Value) -> BTreeSet<String> {
    let items = value.as_array().unwrap().iter();
    items
        .map(|v| v.as_str().map_or(v.to_string(), String::from))
        .collect()
}

/// The steps of a path are its decisions in turn, and the margin has `true` and `false` in the lines of their
/// conditions.
fn compare_steps(path: &Value, drawn: &Value) {
    let decisions = path["decisions"].as_array().unwrap().iter();
    let told = decisions
        .filter(|d| d["way"] != "returns" && d["implied"] != true && d["generated"] != true);
    let mut steps = drawn["steps"].as_array().unwrap().iter();
    let mut step: Option<(&Value, usize)> = None;
    for d in told {
        // A decision that is repeated in a row has one step.
        let (at, left) = match step.take() {
            Some((at, left)) if left > 0 => (at, left),
            _ => {
                let next = steps.next().expect("a step for each decision");
                let text = next["text"].as_str().unwrap();
                let times = text.rsplit_once("  ×").and_then(|t| t.1.parse().ok());
                (next, times.unwrap_or(1))
            }
        };
        step = Some((at, left - 1));
        let text = at["text"].as_str().unwrap();
        let condition = d["condition"].as_str().unwrap_or("");
        assert!(text.contains(condition), "{text}: {d}");
        let outcome = at["outcome"].as_str().unwrap();
        if d["outcome"] == "unknown" {
            assert!(outcome.starts_with('→'), "{outcome}: {d}");
        } else {
            assert_eq!(d["outcome"], outcome, "{d}");
        }
        if outcome == "true" || outcome == "false" {
            let place = format!("{}:{}", d["file"].as_str().unwrap(), d["line"]);
            let beside = serde_json::json!([place, outcome]);
            let margins = drawn["margins"].as_array().unwrap();
            let own = place.contains("testdata");
            assert!(!own || margins.contains(&beside), "{beside}: {margins:?}");
        }
    }
    let more: Vec<_> = steps.collect();
    // A path on which nothing is decided has one step that says so.
    assert!(
        more.is_empty() || more[0]["text"] == "nothing is decided",
        "{more:?}"
    );
}

#[test]
#[ignore = "make test-viewers"]
fn every_path_lights_its_lines() {
    for (name, flags) in [
        ("loops", &["-O2", "-g"][..]),
        ("conditions", &["-O0", "-g"]),
    ] {
        let dir = crate::support::folder();
        let profile = profiled(name, flags, dir.path());
        let mut show = Command::new(PROF);
        let shown = text(run(show
            .arg("show")
            .arg(&profile)
            .args(["--format", "json"])));
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let drawn = in_browser(&page(&profile, &[]), EVERY_PATH, dir.path());
        let mut compared = 0;
        for f in shown["functions"].as_array().unwrap() {
            for p in f["paths"].as_array().unwrap() {
                let same = |d: &&Value| d["name"] == f["name"] && d["id"] == p["id"];
                let drawn = drawn
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(same)
                    .expect("it is drawn");
                assert_eq!(drawn["count"], p["count"]);
                let lines = p["lines"].as_array().unwrap().iter();
                let file = |l: &Value| {
                    shown["files"][l[0].as_u64().unwrap() as usize]
                        .as_str()
                        .unwrap()
                        .to_string()
                };
                // A file of more than 300 lines is drawn in part.
                let own = |name: &String| name.contains("testdata");
                let expected: BTreeSet<String> = lines
                    .map(|l| format!("{}:{}", file(l), l[1]))
                    .filter(own)
                    .collect();
                let lit: BTreeSet<String> =
                    strings(&drawn["lines"]).into_iter().filter(own).collect();
                assert_eq!(lit, expected, "{name} {} #{}", f["name"], p["id"]);
                assert_eq!(strings(&drawn["blocks"]), strings(&p["blocks"]));
                compare_steps(p, drawn);
                compared += 1;
            }
        }
        assert!(compared > 20, "{name}: {compared}");
    }
}

/// Every view, in both modes of writing it, with and without a profile to compare with.
#[test]
#[ignore = "make test-viewers"]
fn every_view_is_drawn() {
    let dir = crate::support::folder();
    let profile = profiled("exceptions", &["-O0", "-g"], dir.path());
    let before = profile.to_str().unwrap();
    let views = r"
        const out = {};
        for (const view of ['overview', 'functions', 'sources', 'flame', 'coverage', 'f=0', 'f=3&u=0', 'file=0',
            'file=999', 'f=99999']) {
            history.replaceState(null, '', '#' + view);
            p3.route();
            out[view] = document.getElementById('main').textContent.length;
        }
        for (const a of document.querySelectorAll('a[href]'))
            if (!a.getAttribute('href').startsWith('#')) wrong.push(a.href);
        return out;";
    for options in [&[][..], &["--baseline", before]] {
        let lengths = in_browser(&page(&profile, options), views, dir.path());
        assert!(
            lengths
                .as_object()
                .unwrap()
                .values()
                .all(|n| n.as_u64().unwrap() > 10),
            "{lengths}"
        );
    }
}

/// What a user sees who opens every function at 1400 x 1000 pixels, and what keys and clicks do.
const IN_USE: &str = r"
    const out = { functions: [], steps: 0, keys: {} };
    const within = (inner, outer) => { const [a, b] = [inner.getBoundingClientRect(), outer.getBoundingClientRect()];
        return a.top >= b.top - 1 && a.bottom <= b.bottom + 1; };
    const key = k => document.body.dispatchEvent(new KeyboardEvent('keydown', { key: k, bubbles: true }));
    for (let f = 0; f < p3.data.functions.length; f++) {
        const F = p3.data.functions[f];
        if (!F.paths.length) continue;
        history.replaceState(null, '', `#f=${f}`);
        p3.route();
        const code = document.querySelector('.code'), first = code.querySelector(`.row[data-line='${F.begins.line}']`);
        const svg = document.querySelector('.pic svg'), scale = svg.clientWidth / svg.viewBox.baseVal.width;
        const letters = [...svg.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize) * scale);
        out.functions.push({ name: F.symbol, file: code.getAttribute('aria-label').slice(7),
            own: p3.data.files[F.begins.file].name,
            opens: !!first && within(first, code), letters: Math.min(...letters),
            seen: [...svg.querySelectorAll('.b.lit')].some(b => within(b, svg)) });
        for (const b of document.querySelectorAll('.steps button:enabled')) {
            b.click();
            const at = document.querySelector('.code .row.at');
            if (!at || !within(at, document.querySelector('.code')) ||
                at.dataset.line !== b.querySelector('.pl').textContent.split(':').pop())
                wrong.push('a step leads elsewhere: ' + b.textContent);
            out.steps++;
        }
    }
    // Keys: another path, a step, zoom, path alone and whole function, lists.
    const busy = p3.data.functions.findIndex(f => f.paths.length > 2);
    history.replaceState(null, '', `#f=${busy}`);
    p3.route();
    const chosen = () => [...document.querySelectorAll('.entry')].findIndex(e =>
        e.getAttribute('aria-selected') === 'true');
    const width = () => document.querySelector('.pic svg').viewBox.baseVal.width;
    const drawn = () => document.querySelectorAll('.pic .b').length;
    key('ArrowDown');
    out.keys.path = chosen();
    key(']');
    out.keys.step = document.querySelectorAll('.steps .at').length;
    const before = width();
    key('+');
    out.keys.larger = width() < before;
    const blocks = drawn();
    key('p');
    out.keys.folded = drawn() !== blocks;
    history.replaceState(null, '', '#functions');
    p3.route();
    key('ArrowDown');
    out.keys.cursor = document.querySelectorAll('.row.cursor').length;
    key('Enter');
    out.keys.opened = location.hash.startsWith('#f=');
    return out;";

#[test]
#[ignore = "make test-viewers"]
fn functions_open_at_their_own_lines_and_are_legible() {
    let dir = crate::support::folder();
    // Optimised, callees stand in their callers, and `main` has more blocks than fit.
    let profile = profiled("demo", &["-O1", "-g"], dir.path());
    let seen = in_browser(&page(&profile, &[]), IN_USE, dir.path());
    for f in seen["functions"].as_array().unwrap() {
        assert_eq!(f["file"], f["own"], "{f}");
        assert!(f["opens"] == true && f["seen"] == true, "{f}");
        assert!(f["letters"].as_f64().unwrap() >= 11.0, "{f}");
    }
    assert!(seen["steps"].as_u64().unwrap() > 0, "{seen}");
    let keys = serde_json::json!({
        "path": 1, "step": 1, "larger": true, "folded": true, "cursor": 1, "opened": true,
    });
    assert_eq!(seen["keys"], keys);
}

/// Lists of the program: each file once and by heat, coverage in its order, code of the system only when it is asked
/// for.
#[test]
#[ignore = "make test-viewers"]
fn lists_are_in_order() {
    let dir = crate::support::folder();
    let profile = profiled("exceptions", &["-O0", "-g"], dir.path());
    let script = r"
        const show = hash => { history.replaceState(null, '', '#' + hash); p3.route(); };
        const cells = (list, n) => [...document.querySelectorAll(`.list[aria-label='${list}'] .row`)].map(r =>
            r.children[n].textContent);
        const share = text => text.startsWith('<') ? 0.05 : parseFloat(text);
        const out = {};
        show('sources');
        out.files = cells('Files', 4);
        out.heat = cells('Files', 0).map(share);
        show('coverage');
        out.heads = [...document.querySelector(`.list[aria-label='Coverage'] .head`).children].map(c => c.textContent);
        out.missing = cells('Coverage', 1).map(c => c.split(' / ').map(Number)).map(([ran, all]) => all - ran);
        out.fresh = cells('Paths that did not run', 0).map(Number);
        // Only rows in sight exist.
        const known = () => parseFloat(document.querySelector(`.list[aria-label='Coverage'] .body`).style.height) / 24;
        out.own = known();
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'y', bubbles: true }));
        out.all = known();
        out.system = p3.data.functions.filter(f => f.system).length;
        out.functions = p3.data.functions.length;
        out.title = document.title;
        return out;";
    let seen = in_browser(&page(&profile, &[]), script, dir.path());
    let numbers = |key: &str| -> Vec<f64> {
        let values = seen[key].as_array().unwrap().iter();
        values.map(|v| v.as_f64().unwrap()).collect()
    };
    assert!(numbers("heat").is_sorted_by(|a, b| a >= b), "{seen:#}");
    assert!(numbers("missing").is_sorted_by(|a, b| a >= b), "{seen:#}");
    assert!(
        numbers("fresh").is_sorted() && !numbers("fresh").is_empty(),
        "{seen:#}"
    );
    let files = seen["files"].as_array().unwrap().len();
    assert_eq!(strings(&seen["files"]).len(), files);
    let heads = ["", "lines", "branches", "pairs", "paths", "function"];
    assert_eq!(seen["heads"], serde_json::json!(heads));
    assert!(seen["system"].as_u64().unwrap() > 0, "{seen:#}");
    assert_eq!(seen["all"], seen["functions"]);
    let own = seen["functions"].as_u64().unwrap() - seen["system"].as_u64().unwrap();
    assert_eq!(seen["own"], own);
}

/// Paths of one function read differently in the list, here those that only an early decision tells apart.
#[test]
#[ignore = "make test-viewers"]
fn listed_paths_are_told_apart() {
    let dir = crate::support::folder();
    let profile = profiled("conditions", &["-O0", "-g"], dir.path());
    let script = r"
        const out = { alike: [], early: 0, paths: 0 };
        p3.data.functions.forEach((f, i) => {
            history.replaceState(null, '', `#f=${i}`);
            p3.route();
            const seen = new Map();
            for (const e of document.querySelectorAll('.entry')) {
                const p = (e.dataset.path[0] === 'p' ? f.paths :
                    f.uncovered.map(u => u.path))[+e.dataset.path.slice(1)];
                const lines = [...e.querySelectorAll('.dec')].map(d => d.textContent);
                const told = (p.start || '') + lines.join(' | ');
                out.paths++;
                if (lines.length > 2) out.early++;
                // More than three decisions may be needed; of up to three, all are there.
                if (p.rows.length <= 3) { if (seen.has(told)) out.alike.push(f.name + ': ' + told); seen.set(told, e); }
            }
        });
        return out;";
    let seen = in_browser(&page(&profile, &[]), script, dir.path());
    assert_eq!(seen["alike"], serde_json::json!([]), "{seen:#}");
    assert!(seen["early"].as_u64().unwrap() > 1, "{seen:#}");
}

/// Shares of a baseline are of its own total: two runs together have the shares of one.
#[test]
#[ignore = "make test-viewers"]
fn shares_of_baselines_are_normalised() {
    let dir = crate::support::folder();
    let of_run = |n: &str| {
        let folder = dir.path().join(n);
        std::fs::create_dir(&folder).unwrap();
        profiled("demo", DEBUG, &folder)
    };
    let (profile, again) = (of_run("first"), of_run("second"));
    let twice = dir.path().join("twice.p3prof");
    let mut union = Command::new(PROF);
    union.arg("union").arg("-o").arg(&twice);
    run(union.arg(&profile).arg(&again));
    let script = r"
        history.replaceState(null, '', '#functions');
        p3.route();
        return [...document.querySelectorAll(`.list[aria-label='Functions'] .row`)].map(r =>
            [0, 1, 2].map(n => r.children[n].textContent));";
    let options = ["--baseline", twice.to_str().unwrap()];
    let rows = in_browser(&page(&profile, &options), script, dir.path());
    assert!(rows.as_array().unwrap().len() > 3, "{rows}");
    for row in rows.as_array().unwrap() {
        assert_eq!(row[0], row[1], "{row}");
        assert_eq!(row[2], "+0.0", "{row}");
    }
}

/// The page of a run that counted the paths through one line: what it does not know is no zero.
#[test]
#[ignore = "make test-viewers"]
fn unselected_code_is_called_so() {
    let source = "int odd(int n) {
    if (n % 2)
        return 1;
    return 0;
}
int large(int n) {
    if (n > 10)
        return 1;
    return 0;
}
int main(void) { return odd(7) - large(11); }
";
    let dir = crate::support::folder();
    let dir = dir.path();
    let modules = [module("a.c", source, &["-O0", "-g"], dir)];
    let options = ["--scheme", "sbl", "--paths", "through=a.c:3"];
    let profile = run_and_profile(&modules, &options, 1, &[], dir);
    let script = r"
        const at = async (hash, of) => { history.replaceState(null, '', hash); p3.route();
            await new Promise(r => setTimeout(r, 50)); return of(); };
        const text = () => document.getElementById('main').textContent;
        const rows = () => [...document.querySelectorAll(`.list[aria-label='Functions'] .row`)].map(r => r.textContent);
        const counts = () => [...document.querySelectorAll('.row[data-line]')].map(r =>
            [r.dataset.line, r.children[1].textContent]);
        const picture = () => [...document.querySelectorAll('g.b')].map(g => [g.getAttribute('class'), g.textContent]);
        const n = p3.data.functions.findIndex(f => f.name === 'odd');
        const m = p3.data.functions.findIndex(f => f.name === 'large');
        return { overview: await at('#overview', text), rows: await at('#functions', rows),
            counts: await at(`#f=${n}`, counts), picture: picture(),
                 large: await at(`#f=${m}`, text), coverage: await at('#coverage', text) };";
    let seen = in_browser(&page(&profile, &[]), script, dir);
    let text = |v: &Value| v.as_str().unwrap().to_string();
    assert!(text(&seen["overview"]).contains("only selected paths are counted (through=a.c:3)"));
    let rows: Vec<String> = seen["rows"].as_array().unwrap().iter().map(text).collect();
    for name in ["large", "main"] {
        let row = rows.iter().find(|r| r.contains(name)).unwrap();
        assert!(row.contains("not selected"), "{rows:?}");
    }
    let counts = seen["counts"].as_array().unwrap().iter();
    let of_line = |line: &str| {
        let row = counts.clone().find(|c| c[0] == line).unwrap();
        text(&row[1])
    };
    assert_eq!([of_line("3"), of_line("4"), of_line("7")], ["1", "?", "?"]);
    let blocks = seen["picture"].as_array().unwrap().iter();
    let unknown = blocks.filter(|b| text(&b[0]).contains("unknown"));
    assert!(unknown.clone().count() > 0 && unknown.clone().all(|b| text(&b[1]).contains('?')));
    assert!(text(&seen["large"]).contains("whether any ran is not known"));
    assert!(text(&seen["coverage"]).contains("not selected"));
}

/// axe-core, which knows the rules of accessibility.
#[test]
#[ignore = "make test-viewers"]
fn axe_finds_no_barrier() {
    let dir = crate::support::folder();
    let mut npm = Command::new("npm");
    npm.args(["pack", "--silent", "axe-core@4"]);
    let file = text(run(npm.current_dir(dir.path())));
    run(Command::new("tar")
        .arg("-xzf")
        .arg(file.trim())
        .current_dir(dir.path()));
    let axe = read(&dir.path().join("package/axe.min.js"));
    let profile = profiled("demo", DEBUG, dir.path());
    let html = page(&profile, &[]);
    let with_axe = read(&html).replacen("</head>", &format!("<script>{axe}</script></head>"), 1);
    std::fs::write(&html, with_axe).unwrap();
    let script = r"
        const found = [];
        for (const view of ['overview', 'functions', 'sources', 'flame', 'coverage', 'f=1&p=0', 'file=0'])
            for (const theme of ['light', 'dark']) {
            document.documentElement.dataset.theme = theme;
            history.replaceState(null, '', '#' + view);
            p3.route();
            const done = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'] });
            for (const v of done.violations)
                found.push(view + ' ' + theme + ': ' + v.id + ' ' + v.nodes.map(n => n.html.slice(0, 120) + ' ' + (n.any[0] || {}).message)
                    .slice(0, 2).join(' | '));
        }
        return found;";
    let found = in_browser(&html, script, dir.path());
    assert_eq!(found, serde_json::json!([]), "{found:#}");
}

/// Markers count on the page like in the text: both have the same lines and branches, and marked lines say so.
#[test]
#[ignore = "make test-viewers"]
fn coverage_of_pages_is_that_of_texts() {
    let dir = crate::support::folder();
    let source =
        "int f(int n) {\n  if (n > 3) // LCOV_EXCL_BR_LINE\n    return 1; // LCOV_EXCL_LINE\n  \
        return n ? 2 : g(n);\n}\nint main(int c, char **v) { return f(c) - 2; }\n"
            .replace("int f(", "int g(int n) { return n > 7 ? n : 0; }\nint f(");
    let profile = compiled("marked.c", &source, dir.path());
    let mut text = Command::new(PROF);
    text.arg("coverage")
        .arg(&profile)
        .args(["--format", "json"]);
    let text = parsed(&run(&mut text).stdout);
    let script = r"
        const D = p3.data, sum = (of, key) => [0, 1].map(k => of.reduce((n, f) => n + f[key][k], 0));
        history.replaceState(null, '', '#coverage');
        p3.route();
        const facts = [...document.querySelectorAll('.facts span')].map(s => s.textContent);
        history.replaceState(null, '', '#f=f');
        p3.route();
        const excluded = [...document.querySelectorAll('.code .row')].filter(r => r.textContent.includes('excluded'))
            .map(r => +r.dataset.line);
        return { lines: sum(D.functions, 'lines'), branches: sum(D.functions, 'branches'), facts, excluded };";
    let seen = in_browser(&page(&profile, &[]), script, dir.path());
    for key in ["lines", "branches"] {
        let expected = &text["headline"][key];
        assert_eq!(&seen[key], expected, "{seen:#}");
        let fact = format!("{key}: {} of {}", expected[0], expected[1]);
        assert!(strings(&seen["facts"]).contains(&fact), "{seen:#}");
    }
    assert_eq!(seen["excluded"], serde_json::json!([4]));
}

/// Opening a view makes each of its elements once: lists that were drawn again and again were what made views slow.
#[test]
#[ignore = "make test-viewers"]
fn views_are_drawn_once() {
    let dir = crate::support::folder();
    let profile = profiled("demo", &["-O1", "-g"], dir.path());
    let script = r"
        const make = document.createElement.bind(document), out = {};
        let made = 0;
        document.createElement = tag => { made++; return make(tag); };
        const busy = p3.data.functions.findIndex(f => f.paths.length > 2);
        for (const view of ['overview', 'functions', 'sources', 'coverage', 'file=0', `f=${busy}`]) {
            made = 0;
            history.replaceState(null, '', '#' + view);
            p3.route();
            const there = document.querySelectorAll('main *:not(svg, svg *)').length;
            out[view] = [made, there];
        }
        return out;";
    let seen = in_browser(&page(&profile, &[]), script, dir.path());
    for (view, n) in seen.as_object().unwrap() {
        let (made, there) = (n[0].as_u64().unwrap(), n[1].as_u64().unwrap());
        // Links of the views are made too.
        assert!(there > 5 && made <= there + 12, "{view}: {made}, {there}");
    }
}

/// What has no text says so; a path in the middle of a long function is in sight; the flame graph is walked by keys.
#[test]
#[ignore = "make test-viewers"]
fn long_and_textless_functions_are_legible() {
    let dir = crate::support::folder();
    let tests: String = (0..70)
        .map(|i| format!("  if (n == {i})\n    return {};\n", i % 3))
        .collect();
    let source = format!(
        "int many(int n) {{\n  volatile int k = n;\n  while (k > 90)\n    k--;\n{tests}  return 3;\n}}\n\
         int main(int c, char **v) {{ return many(c + 100) - 3; }}\n"
    );
    let profile = compiled("many.c", &source, dir.path());
    let script = r"
        const out = { absent: [], seen: [] };
        const F = p3.data.functions.findIndex(f => f.symbol === 'many');
        p3.data.functions[F].paths.forEach((_, j) => {
            history.replaceState(null, '', `#f=${F}&p=${j}`);
            p3.route();
            const code = document.querySelector('.code').getBoundingClientRect();
            const lit = [...document.querySelectorAll('.code .row.lit')].map(r => r.getBoundingClientRect());
            out.seen.push(lit.some(r => r.top >= code.top - 1 && r.bottom <= code.bottom + 1));
        });
        out.absent = document.querySelectorAll('.absent').length;
        out.steps = document.querySelectorAll('.steps li').length;
        history.replaceState(null, '', '#flame');
        p3.route();
        const flame = document.querySelector('.flame'), key = k => flame.dispatchEvent(new KeyboardEvent('keydown',
            { key: k, bubbles: true }));
        flame.focus();
        out.focused = document.activeElement === flame;
        key('ArrowDown'); key('ArrowDown');
        out.told = document.querySelector('[role=status]').textContent;
        key('Enter');
        out.opened = location.hash.startsWith('#f=');
        return out;";
    let with = in_browser(&page(&profile, &[]), script, dir.path());
    assert!(
        with["seen"].as_array().unwrap().iter().all(|s| s == true),
        "{with:#}"
    );
    assert_eq!(
        (&with["absent"], &with["focused"], &with["opened"]),
        (&0.into(), &true.into(), &true.into()),
        "{with:#}"
    );
    assert!(
        with["told"].as_str().unwrap().starts_with("many: "),
        "{with:#}"
    );
    std::fs::remove_file(dir.path().join("many.c")).unwrap();
    let without = in_browser(&page(&profile, &[]), script, dir.path());
    assert!(without["absent"].as_u64().unwrap() > 0, "{without:#}");
}

/// At first, a picture shows where the path begins, and cuts nothing off at a side if it is narrow enough.
#[test]
#[ignore = "make test-viewers"]
fn first_view_of_picture_begins_at_entry() {
    let dir = crate::support::folder();
    let source = "int g(int n) { return n; }\n\
        int f(int n) {\n  if (n > 1)\n    if (n > 2) {\n      if (n > 4) g(4);\n      if (n > 5) g(5);\n      if (n > \
        6) g(6);\n    }\n  \
        return n;\n}\nint main(int c, char **v) { return f(c) - 1; }\n";
    let profile = compiled("tall.c", source, dir.path());
    let script = r"
        const out = [];
        for (let f = 0; f < p3.data.functions.length; f++) {
            history.replaceState(null, '', `#f=${f}`);
            p3.route();
            await new Promise(r => setTimeout(r, 100));
            const svg = document.querySelector('.pic svg'), nodes = [...svg.querySelectorAll('g.b')];
            const [x, y, w, h] = svg.getAttribute('viewBox').split(' ').map(Number);
            const at = nodes.map(g => g.getAttribute('transform').match(/-?[\d.]+/g).map(Number));
            const first = at[nodes.findIndex(g => g.dataset.blocks.split(' ')[0] === '0')];
            const left = Math.min(...at.map(a => a[0])), right = Math.max(...at.map(a => a[0])) + 168,
                low = Math.max(...at.map(a => a[1])) + 46;
            out.push({ begins: first[0] >= x && first[0] + 168 <= x + w && first[1] >= y,
                is_narrow: right - left <= w - 74,
                facts: document.querySelector('.headline p').textContent, is_tall: low - first[1] > h,
                is_whole: left >= x && right <= x + w,
                is_aside: Math.abs((left + right) / 2 - first[0] - 84) > 30 });
        }
        return out;";
    let seen = in_browser(&page(&profile, &[]), script, dir.path());
    let seen = seen.as_array().unwrap();
    let is = |f: &Value, what: &str| f[what].as_bool().unwrap();
    for f in seen {
        assert!(is(f, "begins"), "{seen:#?}");
        assert!(is(f, "is_whole") || !is(f, "is_narrow"), "{seen:#?}");
    }
    let mut text = Command::new(PROF);
    text.arg("coverage")
        .arg(&profile)
        .args(["--function", "^f$", "--format", "json"]);
    let text = parsed(&run(&mut text).stdout);
    let cannot = text["functions"][0]["contradictory"].as_u64().unwrap();
    let told = format!(" · {cannot} more left out, which cannot run");
    assert!(
        seen.iter()
            .any(|f| f["facts"].as_str().unwrap().contains(&told)),
        "{seen:#?}"
    );
    let is_hard = |f: &&Value| is(f, "is_tall") && is(f, "is_narrow") && is(f, "is_aside");
    assert!(seen.iter().any(|f| is_hard(&f)), "{seen:#?}");
}
