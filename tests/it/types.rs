//! Values of every type that LLVM's verifier accepts, as parameters, as results and in loops, under every scheme: no
//! type makes rewriting fail.

use crate::support::{folder, rewrite};

/// Types that a parameter and a result can have.
const TYPES: [&str; 32] = [
    "half",
    "bfloat",
    "fp128",
    "x86_fp80",
    "ppc_fp128",
    "x86_mmx",
    "i1",
    "i129",
    "i65536",
    "ptr addrspace(3)",
    "<4 x ptr>",
    "<3 x i1>",
    "<4 x bfloat>",
    "<1 x x86_fp80>",
    "<2 x ppc_fp128>",
    "<vscale x 4 x i32>",
    "<vscale x 2 x bfloat>",
    "{}",
    "<{ i8, i64 }>",
    "{ i32, x86_mmx }",
    "{ <vscale x 4 x i32>, <vscale x 4 x i32> }",
    "{ { <vscale x 2 x i64> } }",
    "[0 x i32]",
    "[2 x x86_mmx]",
    "[2 x <vscale x 4 x i32>]",
    "[1048576 x i64]",
    "target(\"spirv.Event\")",
    "target(\"aarch64.svcount\")",
    "target(\"unknown.type\", i32, 4)",
    "{ target(\"spirv.Event\"), i8 }",
    "{ target(\"aarch64.svcount\") }",
    "{ target(\"unknown.type\") }",
];

/// Functions in whose loops a value of type `T` is live, and made anew.
const FUNCTIONS: &str = r#"
declare T @make()
declare void @use(T)
declare i1 @more()
declare i32 @personality(...)

define T @parameter_and_result(T %x) {
entry:
  %a = call T @make()
  br label %loop
loop:
  %p = phi T [ %a, %entry ], [ %n, %latch ]
  call void @use(T %x)
  %c = call i1 @more()
  br i1 %c, label %latch, label %exit
latch:
  %n = call T @make()
  call void @use(T %p)
  br label %loop
exit:
  call void @use(T %a)
  ret T %p
}

define void @two_loops_with_a_pad() personality ptr @personality {
entry:
  %a = call T @make()
  br label %loop
loop:
  %p = phi T [ %a, %entry ], [ %n, %next ], [ %p, %outer ]
  %c = call i1 @more()
  br i1 %c, label %latch, label %exit
latch:
  %n = invoke T @make() to label %next unwind label %pad
next:
  call void @use(T %p)
  br label %loop
pad:
  %l = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %l
exit:
  call void @use(T %a)
  %d = call i1 @more()
  br i1 %d, label %outer, label %end
outer:
  br label %loop
end:
  ret void
}
"#;

/// Types that only values inside functions can have.
const INSIDE: &str = r#"
declare i1 @more()
declare x86_amx @llvm.x86.tilezero.internal(i16, i16)
declare void @llvm.x86.tilestored64.internal(i16, i16, ptr, i64, x86_amx)
declare token @llvm.experimental.convergence.anchor()
declare void @use() convergent

define void @tile(ptr %to) {
entry:
  %a = call x86_amx @llvm.x86.tilezero.internal(i16 8, i16 64)
  br label %loop
loop:
  %p = phi x86_amx [ %a, %entry ], [ %n, %latch ]
  call void @llvm.x86.tilestored64.internal(i16 8, i16 64, ptr %to, i64 64, x86_amx %p)
  %c = call i1 @more()
  br i1 %c, label %latch, label %exit
latch:
  %n = call x86_amx @llvm.x86.tilezero.internal(i16 8, i16 64)
  br label %loop
exit:
  call void @llvm.x86.tilestored64.internal(i16 8, i16 64, ptr %to, i64 64, x86_amx %a)
  ret void
}

define void @token() convergent {
entry:
  %t = call token @llvm.experimental.convergence.anchor()
  br label %loop
loop:
  %c = call i1 @more()
  br i1 %c, label %loop, label %exit
exit:
  call void @use() [ "convergencectrl"(token %t) ]
  ret void
}
"#;

const TARGET: &str = r#"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
"#;

#[test]
fn values_of_every_type_are_rewritten_under_every_scheme() {
    let dir = folder();
    let with_type = |ty: &&str| {
        let functions = FUNCTIONS.replace("T ", &format!("{ty} "));
        functions.replace("(T)", &format!("({ty})"))
    };
    let sources: Vec<String> = TYPES.iter().map(with_type).chain([INSIDE.into()]).collect();
    let schemes: [&[&str]; 6] = [
        &["sbl"],
        &["p3-hot"],
        &["edge"],
        &["shadow"],
        &["subpath"],
        &["subpath", "--within", "functions"],
    ];
    for (n, source) in sources.iter().enumerate() {
        let input = [dir.path().join(format!("{n}.ll"))];
        std::fs::write(&input[0], format!("{TARGET}{source}")).unwrap();
        for scheme in schemes {
            let options = [&["--scheme"], scheme].concat();
            rewrite(&input, &options, &dir.path().join(format!("{n}{scheme:?}")));
        }
    }
}
