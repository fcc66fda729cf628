//! Views of every stage for people: graphs as dot, numberings and plans as text (`--dump`).
#![cfg_attr(
    not(feature = "llvm"),
    allow(dead_code, reason = "only engines use all of it")
)]

use crate::base::index::{EdgeId, VertexId};
use crate::base::names::{dot_escaped, escape_unprintable};
use crate::input::ir::Cfg;
use crate::paths::dag::{Dag, EdgeKind};
use crate::paths::function::Measuring;
use petgraph::dot::{Config, Dot};
use petgraph::graph::Graph;
use petgraph::visit::EdgeRef;

/// What can be dumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// The control-flow graph (dot).
    Cfg,
    /// The Ball–Larus DAG with its labels (dot).
    Dag,
    /// Numbers of paths, labels and weights (text).
    Numbering,
    /// What each copy inserts (text).
    Plan,
}

/// The CFG of function `name` as dot.
pub(crate) fn cfg_dot(name: &str, cfg: &Cfg) -> String {
    let mut graph = Graph::<String, String>::new();
    let nodes: Vec<_> = cfg.ids().map(|b| graph.add_node(format!("b{b}"))).collect();
    for b in cfg.ids() {
        let block = cfg.block(b);
        for (i, s) in block.succs.iter().enumerate() {
            let label = block.terminator.edge_name(i as u32);
            graph.add_edge(nodes[b.index()], nodes[s.index()], label);
        }
    }
    dot(name, &graph)
}

/// The DAG of function `name` as dot: edges carry their Ball–Larus labels, phony edges are
/// dashed.
pub(crate) fn dag_dot(name: &str, paths: &Measuring) -> String {
    let dag = &paths.dag;
    let mut graph = Graph::<String, String>::new();
    let nodes: Vec<_> = dag
        .order()
        .map(|v| graph.add_node(vertex_name(dag, v)))
        .collect();
    for e in dag.edge_ids() {
        let edge = dag.edge(e);
        let label = match paths.numbering.labels[e] {
            0 => String::new(),
            l => format!("+{l}"),
        };
        graph.add_edge(nodes[edge.src.index()], nodes[edge.dst.index()], label);
    }
    let phony = |e: usize| {
        let kind = dag.edge(EdgeId::new(e)).kind;
        matches!(kind, EdgeKind::LoopStart | EdgeKind::BackEdge(_))
    };
    render_dot(name, &graph, &|e| {
        if phony(e) {
            "style=dashed".into()
        } else {
            String::new()
        }
    })
}

/// Numbers of paths, labels and weights as text; one line for each edge, no path is listed.
pub(crate) fn numbering_text(name: &str, paths: &Measuring) -> String {
    let dag = &paths.dag;
    let mut out = format!(
        "{}: {} paths, {} cuts\n",
        escape_unprintable(name),
        paths.numbering.total(),
        paths.cuts.len()
    );
    for v in dag.order() {
        let n = paths.numbering.paths[v];
        out += &format!("{}: {n} paths to EXIT\n", vertex_name(dag, v));
        for e in dag.out_edges(v) {
            let (label, weight) = (paths.numbering.labels[e], paths.weights[e]);
            let (to, kind) = (vertex_name(dag, dag.edge(e).dst), kind_name(dag, e));
            out += &format!("  -> {to:<6} label {label:<8} weight {weight:<10.4} {kind}\n");
        }
    }
    out
}

fn vertex_name(dag: &Dag, v: VertexId) -> String {
    match dag.block(v) {
        Some(b) => format!("b{b}"),
        None if v == dag.entry() => "ENTRY".into(),
        None => "EXIT".into(),
    }
}

fn kind_name(dag: &Dag, e: EdgeId) -> String {
    match dag.edge(e).kind {
        EdgeKind::Enter | EdgeKind::Leave => String::new(),
        EdgeKind::LoopStart => "phony: a loop starts".into(),
        EdgeKind::Real(c) => format!("edge {c}"),
        EdgeKind::BackEdge(c) => format!("phony: back edge {c} to b{}", dag.back_target(e)),
    }
}

fn dot(name: &str, graph: &Graph<String, String>) -> String {
    render_dot(name, graph, &|_| String::new())
}

fn render_dot(
    name: &str,
    graph: &Graph<String, String>,
    attributes: &dyn Fn(usize) -> String,
) -> String {
    let edge = |_: &Graph<String, String>, e: petgraph::graph::EdgeReference<String>| {
        attributes(e.id().index())
    };
    let node = |_: &Graph<String, String>, _| "shape=box".to_string();
    let body = Dot::with_attr_getters(graph, &[Config::GraphContentOnly], &edge, &node);
    format!("digraph \"{}\" {{\n{body}}}\n", dot_escaped(name))
}
