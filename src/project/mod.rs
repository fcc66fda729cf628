//! Compilers in place of yours: `p3-cc` and `p3-cxx`.
//!
//! They run clang. An object is what clang makes, machine code that any `ar`, `nm` or linker takes, and carries the
//! bitcode that it was made of in a section that linkers drop. At a link clang links first, as it would have, and the
//! linker tells what it took. The bitcode of that is optimised by the options with which it was compiled, rewritten as
//! one program, and each copy linked by the same command, its objects in the places of the others. What is put in the
//! program's place is one of the copies.
//!
//! ```text
//! driver      what our compilers do with a command line
//! cc/         such a command line, the environment, and the clang that does the work
//! link        the program, its copies, and what stands in its place
//! link/       objects with their bitcode, what a link took, the modules and the runtime of copies
//! rust        rustc's bitcode, and how it is asked for
//! record      what was built where: what `suite` and `use` go by
//! suite       a command, once for every copy
//! suite/      rounds of it at the same time, those that ran other processes, and builds
//! systems     what is known of CMake, Meson and make
//! integrate   files by which build systems find our compilers
//! interrupt   what ends and what goes when a signal ends a command
//! doctor      what of all that is called is there
//! tools       where called programs are, and why they failed
//! ```

mod cc;
pub mod doctor;
mod driver;
pub mod integrate;
pub mod interrupt;
mod link;
pub mod record;
pub mod rust;
pub mod suite;
pub(crate) mod systems;
mod tools;

pub use cc::Language;
pub use driver::run;
pub(crate) use link::reuse::remove_unused_objects;
pub use link::unlinked;
pub(crate) use tools::{complaint, not_loaded, our_program, path_from_here};
