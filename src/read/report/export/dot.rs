//! Graphviz: the control flow of each function that ran, with counts; the hottest path is drawn thick.

use super::{Asked, Counts, Export};
use crate::base::error::Result;
use crate::base::index::{BlockId, CfgEdge, TiVec};
use crate::base::names::{dot_escaped, printed_name};
use crate::base::table::group_digits;
use crate::paths::dag::{EdgeKind, PathEnd};
use crate::profile::Profile;
use crate::profile::flow::EdgeCount;
use crate::profile::left::Range;
use crate::profile::measurement::{Exact, Measurement};
use crate::read::analysis::counted::CountedFunction;
use crate::read::report::positions::base_name;
use petgraph::dot::{Config, Dot};
use petgraph::graph::{EdgeReference, Graph, NodeIndex};
use std::collections::HashSet;

/// Control flow with counts of edges, for Graphviz.
pub(super) struct Graphviz;

impl Export for Graphviz {
    const NAME: &'static str = "dot";
    const ABOUT: &'static str = "Graphviz: control flow with counts, the hottest path drawn thick";
    type View<'a> = Counts<'a>;

    fn write(counts: &Counts, _: Asked) -> Result<Vec<u8>> {
        Ok(render(counts.profile, &counts.functions)?.into())
    }
}

/// What the hottest path goes through.
#[derive(Default)]
struct Hottest {
    blocks: HashSet<BlockId>,
    edges: HashSet<CfgEdge>,
}

/// One graph for each function that ran.
fn render(profile: &Profile, functions: &[CountedFunction]) -> Result<String> {
    let ran = functions
        .iter()
        .filter(|f| f.executed.blocks.iter().any(|n| n.count > 0));
    let graphs = ran.map(|f| Ok(graph(profile, f, &find_hottest_path(profile, f)?)));
    let head = Ok("// p3-prof\n".to_string());
    std::iter::once(head).chain(graphs).collect()
}

/// The path of the function that ran most, the first of several; nothing in a profile of edges.
fn find_hottest_path(profile: &Profile, f: &CountedFunction) -> Result<Hottest> {
    let most = match &profile.measured {
        Measurement::Exact(Exact::Paths(counts)) => {
            let counts = counts[f.f].iter();
            counts.max_by_key(|&&(id, n)| (n, std::cmp::Reverse(id)))
        }
        Measurement::Exact(Exact::Edges(_)) | Measurement::Estimated(_) => None,
    };
    let Some(&(id, _)) = most else {
        return Ok(Hottest::default());
    };
    let edges = profile.decode(f.f, &f.structure, id)?;
    let dag = &f.structure.paths.dag;
    let path = dag.path(&edges);
    let taken = edges.iter().filter_map(|&e| match dag.edge(e).kind {
        EdgeKind::Real(c) | EdgeKind::BackEdge(c) => Some(c),
        _ => None,
    });
    let mut hottest = Hottest {
        edges: taken.collect(),
        blocks: path.blocks.into_iter().collect(),
    };
    if let PathEnd::Back(edge, _) = path.end {
        hottest.edges.insert(edge);
    }
    Ok(hottest)
}

fn graph(profile: &Profile, f: &CountedFunction, hottest: &Hottest) -> String {
    let cfg = &f.structure.cfg;
    let mut graph = Graph::<BlockId, usize>::new();
    let nodes: TiVec<BlockId, NodeIndex> = cfg.ids().map(|b| graph.add_node(b)).collect();
    for (i, e) in f.edges.iter().enumerate() {
        let e = &e.0;
        graph.add_edge(nodes[e.edge.block], nodes[e.dst], i);
    }
    let node = |_: &Graph<BlockId, usize>, (_, &b): (NodeIndex, &BlockId)| {
        node(profile, f, b, hottest.blocks.contains(&b))
    };
    let edge = |_: &Graph<BlockId, usize>, e: EdgeReference<usize>| {
        let (e, range) = &f.edges[*e.weight()];
        edge(f, e, *range, hottest.edges.contains(&e.edge))
    };
    let without = [
        Config::GraphContentOnly,
        Config::NodeNoLabel,
        Config::EdgeNoLabel,
    ];
    let body = Dot::with_attr_getters(&graph, &without, &edge, &node);
    let name = dot_escaped(&printed_name(&f.entry.name));
    let entered = match f.executed.entry_range(&f.structure, &f.flow) {
        exact if exact.is_exact() => group_digits(exact.count),
        range => format!("≥ {}", group_digits(range.least)),
    };
    format!("digraph \"{name}\" {{\n    label=\"{name}: entered {entered}\"\n{body}}}\n")
}

/// What did not run.
const COLD: &str = " style=dashed color=gray fontcolor=gray";
/// What unselected paths alone, or forked activations, may have run.
const UNKNOWN: &str = " style=dotted color=gray fontcolor=gray";

/// A count; where some paths of the function are not selected, or it may have been forked, the least number, or that
/// nothing is known.
fn describe_count(f: &CountedFunction, range: Range) -> String {
    match (f.executed.is_bound(range), range.count) {
        (false, n) => group_digits(n),
        (true, 0) if f.executed.is_partial => "not selected".to_string(),
        (true, 0) => "not known".to_string(),
        (true, n) => format!("≥ {}", group_digits(n)),
    }
}

fn style(f: &CountedFunction, range: Range) -> &'static str {
    match range.count {
        0 if f.executed.is_bound(range) => UNKNOWN,
        0 => COLD,
        _ => "",
    }
}

/// The attributes of a block.
fn node(profile: &Profile, f: &CountedFunction, b: BlockId, hot: bool) -> String {
    let range = f.executed.blocks[b];
    let style = if hot { " penwidth=3" } else { style(f, range) };
    let (lines, count) = (lines(profile, f, b), describe_count(f, range));
    format!("shape=box label=\"b{b}{lines}\\n{count}\"{style}")
}

/// The attributes of an edge.
fn edge(f: &CountedFunction, e: &EdgeCount, range: Range, hot: bool) -> String {
    let block = f.structure.cfg.block(e.edge.block);
    let name = block.terminator.edge_name(e.edge.succ);
    let label = format!("{name} {}", describe_count(f, range));
    let style = if hot {
        " penwidth=4 color=red"
    } else {
        style(f, range)
    };
    format!("label=\"{}\"{style}", dot_escaped(label.trim()))
}

/// The source lines of a block, from first to last, if it has any: part of a label.
fn lines(profile: &Profile, f: &CountedFunction, b: BlockId) -> String {
    let spans = &f.structure.cfg.block(b).lines;
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return String::new();
    };
    let short = dot_escaped(&base_name(&profile.manifest.files[first.loc.file as usize]));
    if first.loc.file != last.loc.file || first.loc.line >= last.loc.line {
        return format!(" {short}:{}", first.loc.line);
    }
    format!(" {short}:{}–{}", first.loc.line, last.loc.line)
}
