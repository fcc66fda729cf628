//! `p3-prof html` in a browser without a screen: every path lights its lines and blocks, nothing goes wrong, and axe finds no
//! barrier. Run by `make test-viewers`.

use crate::export::{DEBUG, profiled, read, text};
use crate::support::{PROF, parsed, run};
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

/// What a page says after `script` has run in it, which writes to `#result`.
fn in_browser(page: &Path, script: &str, dir: &Path) -> Value {
    let driven = page.with_extension("driven.html");
    let watch = "<script>window.wrong=[];addEventListener('error',e=>wrong.push(e.message));\
        addEventListener('unhandledrejection',e=>wrong.push(String(e.reason)));\
        console.error=(...a)=>wrong.push(a.join(' '));</script>";
    let wait = "const wait=async()=>{while(!document.documentElement.dataset.ready)await new Promise(r=>setTimeout(r,20));};";
    let drive = format!(
        "<script>(async()=>{{{wait}await wait();let result;try{{result=await(async()=>{{{script}}})();}}catch(e){{wrong.push(String(e));}}\
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
    ]);
    browser.args([
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1400,900",
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

/// Goes through all paths by the keyboard's step, and says what is lit in the source and in the picture.
const EVERY_PATH: &str = r"
    const out = [];
    for (let f = 0; f < p3.data.functions.length; f++) {
        const F = p3.data.functions[f];
        for (let j = 0; j < F.paths.length; j++) {
            history.replaceState(null, '', `#f=${f}&p=${j}`);
            p3.route();
            const lines = new Set();
            const n = document.querySelectorAll('.panes section:nth-child(2) h2 button').length;
            for (let t = 0; t < Math.max(1, n); t++) {
                const tab = document.querySelectorAll('.panes section:nth-child(2) h2 button')[t];
                if (tab) tab.click();
                const name = tab ? document.querySelector('.code').getAttribute('aria-label').slice(7) : '';
                for (const row of document.querySelectorAll('.code .row.lit')) lines.add(name + ':' + row.dataset.line);
            }
            const blocks = [...document.querySelectorAll('svg .b.lit')].map(b => +b.dataset.block);
            const decisions = [...document.querySelectorAll('.decisions li')].map(l => l.textContent);
            out.push({ name: F.symbol, id: F.paths[j][0], count: F.paths[j][1], lines: [...lines], blocks, decisions });
        }
    }
    return out;";

fn strings(value: &Value) -> BTreeSet<String> {
    let items = value.as_array().unwrap().iter();
    items
        .map(|v| v.as_str().map_or(v.to_string(), String::from))
        .collect()
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
                // A file of more than 500 lines is drawn in part.
                let own = |name: &String| name.contains("testdata");
                let expected: BTreeSet<String> = lines
                    .map(|l| format!("{}:{}", file(l), l[1]))
                    .filter(own)
                    .collect();
                let lit: BTreeSet<String> =
                    strings(&drawn["lines"]).into_iter().filter(own).collect();
                assert_eq!(lit, expected, "{name} {} #{}", f["name"], p["id"]);
                assert_eq!(strings(&drawn["blocks"]), strings(&p["blocks"]));
                let told = p["decisions"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|d| d["way"] != "returns");
                let texts = drawn["decisions"].as_array().unwrap();
                assert_eq!(told.clone().count(), texts.len());
                for (d, text) in told.zip(texts) {
                    let text = text.as_str().unwrap();
                    let condition = d["condition"].as_str().unwrap_or("");
                    let line = d["to_line"]
                        .as_u64()
                        .map_or(String::new(), |n| n.to_string());
                    assert!(
                        text.contains(condition) && text.contains(&line),
                        "{text}: {d}"
                    );
                    assert_eq!(text.contains("→ back to"), d["back"] == true, "{text}");
                }
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
        for (const view of ['overview', 'functions', 'sources', 'flame', 'coverage', 'f=0', 'f=3&u=0', 'file=0', 'f=99999']) {
            history.replaceState(null, '', '#' + view);
            p3.route();
            out[view] = document.getElementById('main').textContent.length;
        }
        for (const a of document.querySelectorAll('a[href]')) if (!a.getAttribute('href').startsWith('#')) wrong.push(a.href);
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
        for (const view of ['overview', 'functions', 'sources', 'flame', 'coverage', 'f=1&p=0', 'file=0']) for (const theme of ['light', 'dark']) {
            document.documentElement.dataset.theme = theme;
            history.replaceState(null, '', '#' + view);
            p3.route();
            const done = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'] });
            for (const v of done.violations) found.push(view + ' ' + theme + ': ' + v.id + ' ' + v.nodes.map(n => n.html.slice(0, 120) + ' ' + (n.any[0] || {}).message).slice(0, 2).join(' | '));
        }
        return found;";
    let found = in_browser(&html, script, dir.path());
    assert_eq!(found, serde_json::json!([]), "{found:#}");
}
