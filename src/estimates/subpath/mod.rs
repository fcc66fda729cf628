//! Subpaths, sampled: plans, the code that they become, what profiles hold of them, reports. Only schemes whose numbers
//! are estimates need any of it.
//!
//! # How subpaths are sampled
//!
//! `docs/SUBPATHS.md` has the short form, `bench/TRIED.md` how the defaults were chosen.
//!
//! ## Uniform starts
//!
//! Each block execution begins a sample with probability 1/period, whatever happened before. The talk's algorithm
//! tests a counter in every block. Here blocks are paid in advance. At a *boundary* (a function's entry, a back edge,
//! some other edges) the budget of the thread, a thread-local variable, is lowered by the number of blocks on the
//! longest way to the next boundary: its *slots*. If the budget becomes negative, the runtime is called, and the
//! sampling version of the function runs, which reports each block to the runtime. The k-th block of the segment
//! begins the sample if the budget was k before. If the path turns out to be shorter, no sample begins. So every block
//! execution owns one slot, and a boundary costs a subtraction and a branch.
//!
//! **No memory.** Distances are geometric: the skipped part says nothing about the rest. So every draw is independent,
//! and nothing has to be undone if control leaves by an exception, `longjmp`, a signal or a fork. Samples may overlap:
//! up to eight are recorded in a thread at once. Further ones are crowded out, and estimates correct for that, since
//! crowding does not depend on what would have been recorded.
//!
//! **Boundaries.** A sample in a slot beyond the blocks that run is rejected. If the header of an inner loop paid for
//! the way out and on to the function's end, nearly all attempts would be rejected. So an edge becomes a boundary
//! where one more payment is cheaper than the rejected attempts without it: an exit of an inner loop with a long way
//! behind, a rare long case of a `switch`. Each block weighs its successors by their expected frequency (a profile's,
//! if given), with a payment at 256 slots: a payment is some three instructions, an attempt some three hundred, and
//! one slot in 20,000 is an attempt. A further boundary has to save sixteen slots whenever its block runs, since live
//! values are passed there and take registers.
//!
//! **Short loops.** In an iteration of twenty instructions a payment is expensive. So an innermost loop that is
//! entered at its header alone, and is expected to iterate, exists several times in a row: its first iteration, and up
//! to four more, or as many as make 256 instructions. The back edges behind the first iteration and behind the last
//! copy are boundaries, those between are not. If the loop is left early, the blocks of the remaining copies were paid
//! in vain: fewer than what costs half as much as a payment.
//!
//! ## Versions
//!
//! Within a function, control never returns to the version in which an activation begins: its loops would have a
//! second entry, and code generators keep nothing in registers for such loops. When nothing more is to be sampled,
//! control continues in a copy of the loop at whose header it is, up to eight loops around each other. It leaves that
//! copy for the sampling version where it leaves the loop, and where the budget ends.
//!
//! The sampling version and these copies are a separate function. The skipping version calls it when something is to
//! be sampled, with the live values as arguments, small integers in pairs if all then fit into registers. So the
//! skipping version keeps its registers and its frame. Outside of loops it ends with that call: a jump, if it has no
//! variables on the stack.
//!
//! **Control comes back** inside loops. If nothing is sampled any more at the header of that loop, or of one around it
//! that was not left meanwhile (edges that enter a loop record that), the sampling function returns the φs of the
//! header, and the skipping version continues there. All other live values at the header were defined before the loop.
//! Without this, one sample in a loop would run the rest of it in code that caches and branch predictors do not know.
//! Control comes back to loops that contain loops, to loops of more than 256 instructions, and to loops that call
//! functions of the program. Small loops finish in their copy: one more way round keeps optimisers from counting
//! iterations, and cost 5 % in six programs. Addresses at fixed distances and comparisons are computed again instead
//! of passed, and variables stay in their frame. Across calls, control also leaves on edges behind a call, in the
//! middle of a segment of which nothing more is sampled.
//!
//! Functions whose activations cannot continue elsewhere (`va_start`, `musttail`, whatever depends on the frame), and
//! those that look behind landing pads, have all versions in one function.
//!
//! ## Recording
//!
//! While a sample is recorded, the thread's budget is so low that every boundary, and a test behind each call, leads
//! to the sampling version. No test is needed on edges that pay, nor behind functions of the C library that call
//! nothing of the program (`math.h`, `string.h`, `malloc` and the like; not those that accept functions, nor streams),
//! nor with `--within functions`.
//!
//! Most blocks of the sampling version are before a beginning or after a sample. An activation has two words: where
//! the next sample begins, and how many blocks the runtime can ignore until then. If the second is positive and
//! nothing is recorded across calls, a block takes eight instructions of the runtime, and a boundary eleven.
//!
//! A subpath is stored as all of its blocks (`docs/RAW_FORMAT.md`), not as a hash. Repetitions take few bytes, so a
//! loop of 65,536 blocks fits.
//!
//! **The list** is a concise sample (Gibbons & Matias, SIGMOD 1998): subpaths with their number of points. When it is
//! full, the period doubles, and each point stays with probability one half. Three quarters of the memory are two
//! areas, so that a new list is complete before it counts; the rest is the index. A thread that finds the list in use
//! leaves its sample in a place of its own, and comes again.
//!
//! With `--hot-list counting` it is a counting sample of the same paper. Samples are drawn with the first period for
//! ever. Each point lists its subpath with probability 1/threshold (2^doublings); from then on all its points count.
//! When the list is thinned, an entry keeps its count with probability one half; otherwise it loses one point, and
//! then as many as come before the next that would have listed it.
//!
//! ## Why the estimates are right
//!
//! The beginning of a sample was drawn before its length was. So a sample is also one of the blocks that it begins
//! with, in each shorter length. A subpath of length L has n points: all samples of it and of what begins with it. It
//! ran n · period · 2^doublings / P(length ≥ L) times. With the default lengths that doubles the points of a length at
//! no cost. A subpath has at most one point for a beginning, so n is binomial, and the interval is Wilson's around the
//! estimate. With k copies, each execution could become a point in each of them.
//!
//! Only a length's own points count if some samples are lost because of what follows in them: a recording within
//! functions ends with its activation, and a subpath that is too long for the list is in no count. In counting samples
//! other points would improve nothing, since the expected points before the first one that counts are independent for
//! each entry, and add up.
//!
//! In a counting sample, n is the points counted plus threshold − 1 for those before the first. So estimates are right
//! on average if unlisted subpaths count as 0. (The paper adds 0.418 · threshold − 1, which is right on average over
//! listed ones.) The variance of the points before the first, threshold · (threshold − 1), is added to that of the
//! points. When counting samples are merged nothing is thinned: estimates and variances add up.
//!

#[cfg(feature = "llvm")]
pub(crate) mod emit;
pub(crate) mod export;
pub(crate) mod join;
pub mod plan;
pub mod profile;
pub mod report;
#[cfg(feature = "llvm")]
pub(crate) mod stats;
