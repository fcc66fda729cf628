//! Where the blocks of a control flow stand in a picture: in layers from top to bottom (Sugiyama, Tagawa & Toda, 1981).
//!
//! Layers are longest paths over the edges that are not retreating; an edge over several layers gets a bend in each
//! between; within layers, nodes are put in the order of the means of their neighbours, sweep by sweep; then each goes
//! as near to its neighbours as the order allows, which is isotonic regression.

use crate::base::index::{BlockId, TiSlice, TiVec};
use crate::input::ir::Cfg;
use crate::paths::dag::Order;

/// The room of a block, with what is free around it.
pub(super) const WIDTH: f64 = 192.0;
/// The height of a layer.
pub(super) const HEIGHT: f64 = 96.0;
/// The room of a bend.
const BEND: f64 = 24.0;
/// Sweeps that order layers, and that move nodes.
const SWEEPS: usize = 10;
/// Where more bends than this would be needed, long edges are straight.
const MOST_BENDS: usize = 40_000;

/// A picture of a control flow.
#[derive(Debug, Default)]
pub(super) struct Picture {
    /// The middle of each block; `None` for unreachable ones.
    pub blocks: TiVec<BlockId, Option<(i32, i32)>>,
    /// The bends of each edge, by block and successor; retreating edges have none.
    pub bends: TiVec<BlockId, Vec<Vec<(i32, i32)>>>,
}

/// A node of a layer: a block, or a bend of an edge.
struct Node {
    layer: usize,
    above: Vec<usize>,
    below: Vec<usize>,
    width: f64,
    x: f64,
}

/// The picture of `cfg`. O(sweeps × (blocks + edges + bends) × log).
pub(super) fn picture(cfg: &Cfg) -> Picture {
    let order = Order::new(cfg);
    let mut drawing = Drawing::new(cfg, &order);
    drawing.order();
    drawing.place();
    drawing.finish_picture(cfg)
}

struct Drawing {
    /// The node of each block.
    of: TiVec<BlockId, Option<usize>>,
    /// The nodes of each edge's bends.
    bends: TiVec<BlockId, Vec<Vec<usize>>>,
    nodes: Vec<Node>,
    layers: Vec<Vec<usize>>,
}

impl Drawing {
    fn new(cfg: &Cfg, order: &Order) -> Drawing {
        let mut drawing = Drawing {
            of: cfg.by_block(None),
            bends: cfg
                .blocks
                .iter()
                .map(|b| vec![Vec::new(); b.succs.len()])
                .collect(),
            nodes: Vec::new(),
            layers: Vec::new(),
        };
        let layers = layers(cfg, order);
        for &b in &order.rpo {
            drawing.of[b] = Some(drawing.node(layers[b], WIDTH));
        }
        drawing.add_edges(cfg, order, &layers);
        drawing
    }

    fn node(&mut self, layer: usize, width: f64) -> usize {
        let number = self.nodes.len();
        self.nodes.push(Node {
            layer,
            above: Vec::new(),
            below: Vec::new(),
            width,
            x: 0.0,
        });
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, Vec::new());
        }
        self.layers[layer].push(number);
        number
    }

    fn add_edges(&mut self, cfg: &Cfg, order: &Order, layers: &TiSlice<BlockId, usize>) {
        let mut left = MOST_BENDS;
        for &b in &order.rpo {
            for (succ, &to) in cfg.block(b).succs.iter().enumerate() {
                let (Some(from), Some(end)) = (self.of[b], self.of[to]) else {
                    continue;
                };
                if order.is_retreating(b, to) {
                    continue;
                }
                let between = layers[b] + 1..layers[to];
                let mut last = from;
                if between.len() <= left {
                    left -= between.len();
                    for layer in between {
                        let bend = self.node(layer, BEND);
                        self.bends[b][succ].push(bend);
                        self.join(last, bend);
                        last = bend;
                    }
                }
                self.join(last, end);
            }
        }
    }

    fn join(&mut self, above: usize, below: usize) {
        self.nodes[above].below.push(below);
        self.nodes[below].above.push(above);
    }

    /// Orders each layer by the means of its neighbours' places, downwards and upwards in turn.
    fn order(&mut self) {
        let mut place: Vec<f64> = vec![0.0; self.nodes.len()];
        for layer in &self.layers {
            number_layer(layer, &mut place);
        }
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            for i in 0..self.layers.len() {
                let i = if down { i } else { self.layers.len() - 1 - i };
                let mut layer = std::mem::take(&mut self.layers[i]);
                let mean = |n: &usize| {
                    let node = &self.nodes[*n];
                    let near = if down { &node.above } else { &node.below };
                    mean(near, |n| place[n]).unwrap_or(place[*n])
                };
                let mut keyed: Vec<(f64, usize)> = layer.iter().map(|n| (mean(n), *n)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                layer = keyed.into_iter().map(|k| k.1).collect();
                number_layer(&layer, &mut place);
                self.layers[i] = layer;
            }
        }
    }

    /// Moves nodes as near to their neighbours as the order of their layers allows.
    fn place(&mut self) {
        for layer in &self.layers {
            let mut x = 0.0;
            for &n in layer {
                self.nodes[n].x = x + self.nodes[n].width / 2.0;
                x += self.nodes[n].width;
            }
        }
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            for i in 0..self.layers.len() {
                let i = if down { i } else { self.layers.len() - 1 - i };
                let moved = self.wanted_places(&self.layers[i], down);
                for (&n, x) in self.layers[i].iter().zip(moved) {
                    self.nodes[n].x = x;
                }
            }
        }
    }

    /// Where the nodes of a layer go: least squares from where they would be, in this order and without overlaps.
    fn wanted_places(&self, layer: &[usize], down: bool) -> Vec<f64> {
        let mut room = 0.0;
        let mut wanted = Vec::new();
        for &n in layer {
            let node = &self.nodes[n];
            let near = if down { &node.above } else { &node.below };
            let ideal = mean(near, |n| self.nodes[n].x).unwrap_or(node.x);
            let offset = room + node.width / 2.0;
            wanted.push((ideal - offset, offset));
            room += node.width;
        }
        let level = fit_ascending(wanted.iter().map(|w| w.0));
        level
            .into_iter()
            .zip(wanted)
            .map(|(y, (_, offset))| y + offset)
            .collect()
    }

    fn finish_picture(self, cfg: &Cfg) -> Picture {
        let left = |n: &Node| n.x - n.width / 2.0;
        let least = self.nodes.iter().map(left).fold(f64::MAX, f64::min);
        let at = |n: usize| {
            let node = &self.nodes[n];
            let y = (node.layer as f64 + 0.5) * HEIGHT;
            ((node.x - least).round() as i32, y.round() as i32)
        };
        let bends = self.bends.iter().map(|succs| {
            let edge = |bends: &Vec<usize>| bends.iter().map(|&n| at(n)).collect();
            succs.iter().map(edge).collect()
        });
        debug_assert_eq!(self.of.len(), cfg.len());
        Picture {
            blocks: self.of.iter().map(|n| n.map(at)).collect(),
            bends: bends.collect(),
        }
    }
}

/// The layer of each block: the longest way to it over edges that are not retreating.
fn layers(cfg: &Cfg, order: &Order) -> TiVec<BlockId, usize> {
    let mut layers = cfg.by_block(0);
    for &b in &order.rpo {
        for &to in &cfg.block(b).succs {
            if !order.is_retreating(b, to) {
                layers[to] = layers[to].max(layers[b] + 1);
            }
        }
    }
    layers
}

fn number_layer(layer: &[usize], place: &mut [f64]) {
    let n = layer.len() as f64;
    for (i, &node) in layer.iter().enumerate() {
        place[node] = (i as f64 + 0.5) / n;
    }
}

fn mean(of: &[usize], value: impl Fn(usize) -> f64) -> Option<f64> {
    let sum: f64 = of.iter().map(|n| value(*n)).sum();
    (!of.is_empty()).then(|| sum / of.len() as f64)
}

/// The ascending numbers nearest to `values`, by least squares: neighbours that would descend are pooled.
fn fit_ascending(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for value in values {
        let mut pool = (value, 1);
        while let Some(&(sum, n)) = pools.last()
            && sum / n as f64 > pool.0 / pool.1 as f64
        {
            pool = (sum + pool.0, n + pool.1);
            pools.pop();
        }
        pools.push(pool);
    }
    let level = |&(sum, n): &(f64, usize)| std::iter::repeat_n(sum / n as f64, n);
    pools.iter().flat_map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::random_cfg::{any_cfg, cfg};
    use proptest::prelude::*;

    proptest! {
        /// Blocks do not overlap, edges that are not retreating lead downwards, and bends lie between their ends.
        #[test]
        fn pictures(graph in any_cfg(14)) {
            let (order, picture) = (Order::new(&graph), picture(&graph));
            let placed: Vec<(i32, i32)> = picture.blocks.iter().flatten().copied().collect();
            prop_assert_eq!(placed.len(), order.rpo.len());
            for (i, a) in placed.iter().enumerate() {
                for b in &placed[..i] {
                    prop_assert!(a.1 != b.1 || (a.0 - b.0).abs() >= WIDTH as i32 - 1, "{a:?} {b:?}");
                }
            }
            for &b in &order.rpo {
                for (succ, &to) in graph.block(b).succs.iter().enumerate() {
                    let (from, end) = (picture.blocks[b].unwrap(), picture.blocks[to].unwrap());
                    let bends = &picture.bends[b][succ];
                    if order.is_retreating(b, to) {
                        prop_assert!(bends.is_empty());
                        continue;
                    }
                    let points = std::iter::once(from).chain(bends.iter().copied()).chain([end]);
                    let ys: Vec<i32> = points.map(|p| p.1).collect();
                    prop_assert!(ys.windows(2).all(|w| w[1] - w[0] == HEIGHT as i32), "{ys:?}");
                }
            }
        }
    }

    #[test]
    fn a_diamond_is_one() {
        let picture = picture(&cfg(&[&[1, 2], &[3], &[3], &[0]]));
        let x = |i: usize| picture.blocks[BlockId::new(i)].unwrap().0;
        assert_eq!(x(0), x(3));
        assert_eq!(x(1) + x(2), 2 * x(0));
    }

    /// Thousands of blocks, and edges over all of them.
    #[test]
    fn large_functions() {
        let n = 4000u32;
        let succs: Vec<Vec<u32>> = (0..n)
            .map(|i| {
                if i + 1 < n {
                    vec![i + 1, n - 1]
                } else {
                    vec![]
                }
            })
            .collect();
        let succs: Vec<&[u32]> = succs.iter().map(|s| &s[..]).collect();
        assert_eq!(picture(&cfg(&succs)).blocks.len(), n as usize);
    }

    #[test]
    fn numbers_that_ascend() {
        let nearest = fit_ascending([1.0, 5.0, 3.0, 4.0, 9.0].into_iter());
        assert_eq!(nearest, [1.0, 4.0, 4.0, 4.0, 9.0]);
    }
}
