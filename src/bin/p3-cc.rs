//! `p3-cc`: a compiler in place of clang, whose programs are copies ([`p3_rewrite::cli::compiler`]).

fn main() -> std::process::ExitCode {
    p3_rewrite::cli::compiler::main()
}
