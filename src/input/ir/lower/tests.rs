//! Programs made of small modules of text.

use super::{LoadOptions, assemble, by_llvm_ir};
use crate::base::error::Result;
use crate::base::index::{BlockId, FuncId};
use crate::input::ir::{Callee, FunctionBody, Program, SkipReason, Terminator};
use crate::input::load::{Admitted, Hidden, find_inputs};
use std::path::Path;

fn inputs(modules: &[&str], dir: &Path) -> Vec<Admitted> {
    for (i, text) in modules.iter().enumerate() {
        std::fs::write(dir.join(format!("m{i}.ll")), text).unwrap();
    }
    let inputs = find_inputs(&[dir.to_path_buf()], Path::new(""), None).unwrap();
    inputs.into_iter().map(Admitted::admit_unverified).collect()
}

fn load(modules: &[&str]) -> Result<Program> {
    let dir = tempfile::tempdir().unwrap();
    load_with(inputs(modules, dir.path()))
}

fn load_with(inputs: Vec<Admitted>) -> Result<Program> {
    let lowered = inputs.iter().map(|input| {
        let lowered = by_llvm_ir(input, &input.positions, &[], &LoadOptions::default())?;
        let mut lowered = lowered.expect("llvm-ir represents it");
        lowered.add(&input.hidden);
        Ok(lowered)
    });
    assemble(&inputs, lowered.collect::<Result<_>>()?)
}

fn find<'a>(program: &'a Program, name: &str) -> (FuncId, &'a FunctionBody) {
    let found = program.functions.iter().position(|f| f.name == name);
    let id = FuncId::new(found.unwrap_or_else(|| panic!("{name}")));
    (id, program.body(id))
}

fn sites(program: &Program, name: &str) -> u32 {
    program.functions[FuncId::new(find(program, name).0.index())].call_sites
}

#[test]
fn terminators_and_their_successors() {
    let program = load(&["
        declare i32 @p(...)
        define i32 @f(i32 %n, ptr %t) personality ptr @p {
        a: switch i32 %n, label %b [ i32 1, label %c
                                     i32 2, label %b ]
        b: indirectbr ptr %t, [ label %c, label %b, label %c ]
        c: %x = invoke i32 @f(i32 1, ptr %t) to label %d unwind label %e
        d: br i1 true, label %d2, label %d2
        d2: ret i32 0
        e: %l = landingpad { ptr, i32 } cleanup
           resume { ptr, i32 } %l
        z: unreachable
        }"])
    .unwrap();
    let cfg = &find(&program, "f").1.cfg;
    let block = |i: usize| {
        (
            cfg.blocks[BlockId::new(i)].terminator,
            cfg.blocks[BlockId::new(i)]
                .succs
                .iter()
                .map(|b| b.0)
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(block(0), (Terminator::Switch, vec![1, 2, 1]));
    assert_eq!(block(1), (Terminator::IndirectBr, vec![2, 1, 2]));
    assert_eq!(block(2), (Terminator::Invoke, vec![3, 5]));
    assert_eq!(block(3), (Terminator::Branch, vec![4, 4]));
    assert_eq!(block(5), (Terminator::Resume, vec![]));
    assert_eq!(block(6), (Terminator::Unreachable, vec![]));
    assert!(cfg.block(BlockId(2)).may_leave && !cfg.block(BlockId(0)).may_leave);
    assert_eq!(
        cfg.blocks[BlockId(2)].calls[0].callee,
        Callee::Function(FuncId(0))
    );
}

#[test]
fn call_sites_are_counted_over_modules() {
    let program = load(&[
        "declare void @g()
         define internal void @local() { ret void }
         define void @main() { call void @local()  call void @g()  call void @g()  ret void }",
        "@table = global [1 x ptr] [ptr @taken]
         define void @g() { call void @alias()  ret void }
         define void @h() { call void @local()  ret void }
         define internal void @local() { ret void }
         define internal void @taken() { ret void }
         @alias = alias void (), ptr @h",
    ])
    .unwrap();
    // Only main can be called from outside a program that has one.
    assert_eq!((sites(&program, "main"), sites(&program, "g")), (1, 2));
    // By its alias, and its address is in the alias.
    assert_eq!(sites(&program, "h"), 2);
    assert_eq!(sites(&program, "taken"), 1);
    let locals = program.functions.iter().filter(|f| f.name == "local");
    assert_eq!(locals.map(|f| f.call_sites).collect::<Vec<_>>(), [1, 1]);
    let library = load(&["define void @f() { ret void }
                          define void @g() { call void @f()  ret void }"]);
    assert_eq!(sites(&library.unwrap(), "f"), 2);
}

/// An alias means the same for whoever calls it: its own module, a module without aliases, and one that has a function
/// called as its target or an alias called as it is.
#[test]
fn calls_by_aliases_of_other_modules_are_calls_of_their_targets() {
    let program = load(&[
        "define internal void @target() { ret void }
         define void @strong() { ret void }
         @api = alias void (), ptr @middle
         @middle = alias void (), ptr @target
         @weakly = weak alias void (), ptr @strong
         @round = alias void (), ptr @about
         @about = alias void (), ptr @round",
        "declare void @api()
         declare void @weakly()
         define void @plain() { call void @api()  call void @weakly()  ret void }",
        "declare void @api()
         declare void @hidden()
         define internal void @target() { ret void }
         define void @shadowing() { call void @target()  call void @api()  call void @hidden()  ret void }",
        "define void @own() { ret void }
         define void @others() { call void @hidden()  ret void }
         @hidden = internal alias void (), ptr @own",
    ]);
    let program = program.unwrap();
    let callees = |name: &str| {
        let f = program.functions.position(|f| f.name == name).unwrap();
        let calls = program.body(f).cfg.blocks.iter().flat_map(|b| &b.calls);
        let said = calls.map(|call| match &call.callee {
            Callee::Function(f) => {
                let module = program.functions[*f].bodies[0].module.index();
                format!("{} of {module}", program.functions[*f].name)
            }
            other => format!("{other:?}"),
        });
        said.collect::<Vec<_>>()
    };
    assert_eq!(callees("plain"), ["target of 0", "strong of 0"]);
    let shadowing = ["target of 2", "target of 0", "External(\"hidden\")"];
    assert_eq!(callees("shadowing"), shadowing);
    assert_eq!(callees("others"), ["own of 3"]);
}

#[test]
fn duplicates_are_one_function_where_their_control_flow_is_equal() {
    let same = "define linkonce_odr i32 @f(i32 %n) { ret i32 %n }
                define weak i32 @g(i1 %c) { br i1 %c, label %a, label %b
                a: ret i32 1
                b: ret i32 2 }";
    let program = load(&[
        same,
        same,
        "define available_externally i32 @f(i32 %n) { %m = add i32 %n, 0  ret i32 %m }
         define i32 @g(i1 %c) { ret i32 3 }",
    ])
    .unwrap();
    assert_eq!(program.functions.len(), 3);
    let (f, g) = (&program.functions[FuncId(0)], &program.functions[FuncId(1)]);
    assert_eq!((f.name.as_str(), f.bodies.len()), ("f", 3));
    assert_eq!((g.name.as_str(), g.bodies.len()), ("g", 2));
    // The other g is a function of its own that stays with it.
    assert_eq!(
        (
            program.functions[FuncId(2)].name.as_str(),
            program.functions[FuncId(2)].unit
        ),
        ("g", FuncId(1))
    );
}

/// A plan of one body would copy what must not be copied in the other.
#[test]
fn duplicates_of_which_one_hides_more_are_two_functions() {
    let plain = Hidden::without_hidden(0, 0);
    let functions = |hidden: Hidden| {
        let dir = tempfile::tempdir().unwrap();
        let same = "define linkonce_odr void @f() { ret void }";
        let mut inputs = inputs(&[same, same], dir.path());
        inputs[1].hidden = vec![hidden];
        load_with(inputs).unwrap().functions.len()
    };
    assert_eq!(functions(plain.clone()), 1);
    let single = Hidden {
        single: true,
        ..plain.clone()
    };
    let returns_twice = Hidden {
        returns_twice: true,
        ..plain
    };
    assert_eq!([functions(single), functions(returns_twice)], [2, 2]);
}

#[test]
fn two_definitions_of_one_symbol_are_an_error() {
    let one = "define void @f() { ret void }";
    let error = load(&[one, one]).unwrap_err().to_string();
    assert!(
        error.contains("defines f, and so does ") && !error.contains('\n'),
        "{error}"
    );
}

#[test]
fn functions_that_cannot_be_profiled_say_why() {
    let program = load(&["
        define void @bare() naked { unreachable }
        declare token @llvm.coro.id(i32, ptr, ptr, ptr)
        declare ptr @llvm.coro.begin(token, ptr)
        define void @coroutine() presplitcoroutine {
          %id = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
          %h = call ptr @llvm.coro.begin(token %id, ptr null)
          ret void }
        declare i32 @__CxxFrameHandler3(...)
        define void @windows() personality ptr @__CxxFrameHandler3 {
          invoke void @bare() to label %done unwind label %dispatch
        dispatch: %s = catchswitch within none [label %handler] unwind to caller
        handler: %c = catchpad within %s [ptr null, i32 64, ptr null]
          catchret from %c to label %done
        done: ret void }"])
    .unwrap();
    let skip = |name| find(&program, name).1.skip;
    assert_eq!(skip("bare"), Some(SkipReason::Naked));
    assert_eq!(skip("coroutine"), Some(SkipReason::Coroutine));
    assert_eq!(skip("windows"), Some(SkipReason::Funclets));
}

#[test]
fn recursion_is_seen_through_pointers() {
    let program = load(&["
        define void @a(ptr %f) { call void @b(ptr %f)  ret void }
        define void @b(ptr %f) { call void %f(ptr @a)  ret void }
        define i32 @c() { ret i32 0 }"])
    .unwrap();
    let recursive = |name| program.functions[FuncId::new(find(&program, name).0.index())].recursive;
    assert!(recursive("a") && recursive("b") && !recursive("c"));
}

/// Pairs of callers and candidates would be 9 * 10^8.
#[test]
fn recursion_is_seen_among_many_indirect_calls_of_one_type() {
    let n = 30_000;
    let functions = (0..n)
        .map(|i| format!("define void @f{i}(ptr %f) {{ call void %f(ptr @f{i}) ret void }}\n"));
    let text: String = functions.collect();
    let program = load(&[&(text + "define void @leaf() { ret void }")]).unwrap();
    let recursive = program.functions.iter().filter(|f| f.recursive);
    assert_eq!(recursive.count(), n);
}

#[test]
fn recursion_is_seen_where_functions_have_no_names() {
    let program = load(&["
        define void @0() { call void @1()  ret void }
        define void @1() { call void @0()  ret void }
        define void @2(ptr %f) { call void %f(ptr @2)  ret void }
        define void @a() { call void @0()  ret void }"])
    .unwrap();
    let found: Vec<bool> = program.functions.iter().map(|f| f.recursive).collect();
    assert_eq!(found, [true, true, true, false]);
}

/// To follow each alias to the end of the chain takes 5 * 10^9 steps: minutes.
#[test]
fn chain_of_aliases_is_followed_once() {
    let n = 100_000;
    let alias = |i: usize| format!("@a{i} = alias void (), ptr @a{}\n", i + 1);
    let text: String = (0..n).map(alias).collect();
    let text = format!(
        "{text}@a{n} = alias void (), ptr @f\ndefine void @f() {{ ret void }}\n\
         define void @g() {{ call void @a0() ret void }}\n"
    );
    let program = load(&[&text]).unwrap();
    assert_eq!(program.aliases.len(), n + 1);
    assert!(program.aliases.values().all(|f| *f == FuncId(0)));
    // One call, and what the first alias takes the address of.
    assert_eq!(sites(&program, "f"), 3);
}

/// The body of a function that LLVM does not take to return.
const LOOP: &str = "{
    a: br label %b
    b: br i1 true, label %b, label %c
    c: ret void }";

/// Functions of `program` with a block that control may leave, by name.
fn find_functions_left_midway(program: &Program) -> Vec<&str> {
    let functions = program.functions.iter_enumerated();
    let leaves = |f: FuncId| program.body(f).cfg.blocks.iter().any(|b| b.may_leave);
    let mut names: Vec<&str> = functions
        .filter(|(f, _)| leaves(*f))
        .map(|(_, f)| f.name.as_str())
        .collect();
    names.sort_unstable();
    names
}

/// Who calls only functions of the program that surely return returns, in circles too; who may reach anything else
/// may be left.
#[test]
fn calls_come_back_where_nothing_can_leave() {
    let bodies = "
        declare void @exit(i32)
        declare i32 @__gxx_personality_v0(...)
        define internal void @even() { call void @odd() ret void }
        define internal void @odd() { call void @even() call void @loop() ret void }
        define internal void @quits() { call void @exit(i32 1) ret void }
        define internal void @traps() { call void @llvm.trap() unreachable }
        define internal void @pointed(ptr %f) { call void %f() ret void }
        define internal void @throws(ptr %l) personality ptr @__gxx_personality_v0 {
        a: invoke void @loop() to label %b unwind label %c
        b: ret void
        c: %x = landingpad { ptr, i32 } cleanup
           resume { ptr, i32 } %x }
        define void @calls_even() { call void @even() ret void }
        define void @calls_quits() { call void @even() call void @far() ret void }
        define internal void @far() { call void @quits() ret void }
        define void @calls_traps() { call void @traps() ret void }
        define void @calls_pointed() { call void @pointed(ptr null) ret void }
        define void @calls_throws() { call void @throws(ptr null) ret void }
        define linkonce_odr void @one_of_several() { call void @loop() ret void }
        define void @calls_one_of_several() { call void @one_of_several() ret void }
        declare void @llvm.trap()
        define i32 @main() { ret i32 0 }";
    let always = [
        "calls_one_of_several",
        "calls_pointed",
        "calls_quits",
        "calls_throws",
        "calls_traps",
        "far",
        "pointed",
        "quits",
        "traps",
    ];
    let looping = format!("define internal void @loop() {LOOP}");
    let program = load(&[&format!("{looping} {bodies}")]).unwrap();
    assert_eq!(find_functions_left_midway(&program), always);
}

/// What other modules see may be replaced when a library is loaded, and stays in an executable.
#[test]
fn calls_of_visible_functions_come_back_in_executables() {
    let beside = "define void @beside() { call void @seen() ret void }
        @other = alias void (), ptr @seen";
    let callee = &*format!("define void @seen() {LOOP} {beside}");
    let caller = "declare void @seen()
        declare void @other()
        define void @caller() { call void @seen() ret void }
        define void @by_alias() { call void @other() ret void }";
    let main = "declare void @caller()
        define i32 @main() { call void @caller() ret i32 0 }";
    let library = load(&[callee, caller]).unwrap();
    assert_eq!(
        find_functions_left_midway(&library),
        ["beside", "by_alias", "caller"]
    );
    // `--wrap` may replace what another module calls.
    let executable = load(&[callee, caller, main]).unwrap();
    assert_eq!(
        find_functions_left_midway(&executable),
        ["by_alias", "caller", "main"]
    );
}

/// Two modules with one symbol: which body runs is not known, so nothing is known of its calls.
#[test]
fn calls_of_functions_with_several_bodies_may_not_come_back() {
    let shared = "define weak void @shared() { call void @loop() ret void }";
    let one = &*format!("define internal void @loop() {LOOP} {shared}");
    let main = "define i32 @main() { call void @shared() ret i32 0 }";
    let program = load(&[&format!("{one} {main}"), one]).unwrap();
    assert_eq!(find_functions_left_midway(&program), ["main", "shared"]);
}

/// A handler of a signal may leave anything, and so may whatever a library does.
#[test]
fn no_call_surely_comes_back_beside_functions_from_elsewhere() {
    let main = "define i32 @main() { call void @runs() ret i32 0 }";
    let callee = &*format!("define void @runs() {LOOP} {main}");
    let left = |modules: &[&str]| find_functions_left_midway(&load(modules).unwrap()).len();
    assert_eq!(left(&[callee, "declare i32 @puts(ptr)"]), 0);
    assert_eq!(left(&[callee, "declare void @runs()"]), 0);
    assert_eq!(left(&[callee, "declare ptr @signal(i32, ptr)"]), 1);
    assert_eq!(left(&[callee, "declare void @guard(ptr)"]), 1);
}
