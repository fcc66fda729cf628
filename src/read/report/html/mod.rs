//! `p3-prof html`: a profile as a page that needs no network and no server.
//!
//! What the page shows is one JSON text, compressed, which a script unpacks and draws piece by piece as it is looked
//! at: profiles of many thousand paths open at once. Pictures of control flow are laid out here (`layout`).

mod data;
mod files;
mod layout;
mod paths;
#[cfg(test)]
mod tests;

use crate::base::error::Result;
use crate::profile::Profile;
use crate::profile::filter::Selection;
use crate::profile::locate::MERGED;
use crate::profile::measurement::PathProfile;
use crate::read::possible::Judge;
use crate::read::report::coverage::{Coverage, Scope, Sort, judged_coverage};
use crate::read::source::Sources;
use crate::write::output::{Content, Mark};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::path::Path;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = concat!(
    include_str!("parts.js"),
    include_str!("picture.js"),
    include_str!("page.js")
);
/// A page where results are written.
pub const CONTENT: Content = Content::text(PAGE_MARK);
/// What says in `page.html` that a page is ours.
const PAGE_MARK: Mark = Mark::Head("<meta name=\"generator\" content=\"p3-prof html\">");
/// What says that the other files of a page are ours.
const PART_MARK: Mark = Mark::Start(b"/* Written by p3-prof html */");
/// What a folder with a page holds.
pub const PARTS: [&str; 4] = ["data.js", "index.html", "page.js", "style.css"];
/// Of each function, at most this many paths that did not run are shown.
const NEAREST: usize = 5;

/// A page, ready to be written.
pub struct Page {
    title: String,
    /// Compressed and in base64.
    data: String,
}

impl Page {
    /// The page of the selected functions; with `baseline`, how often their paths ran there. Near-linear in the total
    /// length of the paths, and as [`judged_coverage`] for those that did not run, which `judge` looks at.
    ///
    /// # Errors
    /// A damaged profile, or one of edges.
    pub fn new(
        paths: PathProfile,
        selection: &Selection,
        sources: &Sources,
        baseline: Option<&Profile>,
        judge: Option<&dyn Judge>,
    ) -> Result<Page> {
        let scope = Scope {
            all: true,
            markers: sources.markers(),
            keeps_left_out: true,
            ..Scope::default()
        };
        let covered: Coverage =
            judged_coverage(paths, selection, &scope, Sort::Missing, NEAREST, judge)?;
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::default());
        data::write_data(paths, &covered, sources, baseline, &mut packer)?;
        let packed = packer.finish().expect("memory takes everything");
        Ok(Page {
            title: title(&paths),
            data: BASE64.encode(packed),
        })
    }

    /// One file that holds everything.
    pub fn single_file(&self) -> String {
        let style = format!("<style>{STYLE}</style>");
        let data = format!(
            "<script type=\"application/octet-stream\" id=\"data\">{}</script>",
            self.data
        );
        let script = format!("<script>{SCRIPT}</script>");
        self.page(&style, &(data + &script))
    }

    /// What a folder with the page holds: the page comes last, so that a folder with it is whole.
    pub fn files(&self) -> Vec<(String, Vec<u8>, Mark)> {
        let Mark::Start(mark) = PART_MARK else {
            unreachable!("parts begin with their mark");
        };
        let mark = String::from_utf8_lossy(mark);
        let style = "<link rel=\"stylesheet\" href=\"style.css\">";
        let scripts = "<script src=\"data.js\"></script><script src=\"page.js\"></script>";
        let data = format!("window.P3_DATA = \"{}\";\n", self.data);
        let parts = [
            ("style.css", STYLE),
            ("page.js", SCRIPT),
            ("data.js", &data),
        ];
        let parts = parts.map(|(name, text)| {
            let text = format!("{mark}\n{text}");
            (name.to_string(), text.into_bytes(), PART_MARK)
        });
        let page = self.page(style, scripts).into_bytes();
        let page = ("index.html".to_string(), page, PAGE_MARK);
        parts.into_iter().chain([page]).collect()
    }

    fn page(&self, style: &str, scripts: &str) -> String {
        let (head, rest) = PAGE.split_once("<!--style-->").expect("its place");
        let (body, end) = rest.split_once("<!--scripts-->").expect("its place");
        let title = escape_html(&self.title);
        let (head, body) = (title_in(head, &title), title_in(body, &title));
        format!("{head}{style}{body}{scripts}{end}")
    }
}

/// What the page is called: by the program. Neither a profile nor its manifest has a date, and that of a file would
/// make pages of one profile differ, so there is none.
fn title(profile: &Profile) -> String {
    format!("{} · paths", program(profile))
}

/// The name of the program: `NAME` of the folder `NAME.p3` that a build made for it. Else that of the module that
/// `main` is in, without what compilers and rustc append to it, unless it is called so as well, as that of many
/// programs is. Else that of the profile's file, if somebody chose it, or of its folder.
fn program(profile: &Profile) -> String {
    let folder = profile.path.parent().and_then(Path::file_name);
    let folder = folder.map(|name| name.to_string_lossy().into_owned());
    let built = folder.as_ref().and_then(|name| name.strip_suffix(".p3"));
    if let Some(name) = built.filter(|name| !name.is_empty()) {
        return name.to_string();
    }
    let module = main_module(profile);
    if let Some(name) = module.as_ref().filter(|name| *name != "main") {
        return name.clone();
    }
    let is_chosen = profile.path.file_name().is_some_and(|n| n != MERGED);
    let stem = profile.path.file_stem().filter(|_| is_chosen);
    let stem = stem.map(|name| name.to_string_lossy().into_owned());
    let name = stem.or(folder).or(module);
    name.unwrap_or_else(|| "profile".into())
}

/// The name of the module that `main` is in, without what compilers and rustc append to it.
fn main_module(profile: &Profile) -> Option<String> {
    let mut functions = profile.functions();
    let main = functions.find(|f| profile.entry(*f).name == "main")?;
    let module = profile.module(main);
    let file = module.rsplit('/').next().unwrap_or(module);
    let name = file.split('.').find(|part| !part.is_empty());
    let name = name.unwrap_or(file);
    let name = match name.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash) && !name.is_empty() => name,
        _ => name,
    };
    Some(name.to_string())
}

/// Whether this is what rustc tells crates of one name apart by.
fn is_hash(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn title_in(part: &str, title: &str) -> String {
    part.replace("<!--title-->", title)
}

fn escape_html(text: &str) -> String {
    crate::base::names::escape_unprintable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
}
