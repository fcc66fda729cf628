; Definitions of every kind, beside names of ours that are local, and lists that belong to the linker.
$group = comdat any
$kept = comdat largest

@__p3_counters = internal global i32 1
@__p3_module.0 = private global i32 2
@tls = thread_local global i32 0
@kept = global i32 0, comdat
@llvm.used = appending global [1 x ptr] [ptr @grouped], section "llvm.metadata"
@llvm.compiler.used = appending global [2 x ptr] [ptr @__p3_counters, ptr @__p3_count], section "llvm.metadata"
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 5, ptr @aligned, ptr @kept }]
@llvm.global_dtors = appending global [0 x { i32, ptr, ptr }] zeroinitializer

@other = alias i32 (i1), ptr @grouped
@chosen = ifunc i32 (i1), ptr @resolver

declare void @callee()

define internal i32 @__p3_count(ptr %p, i64 %n) memory(none) {
  %c = icmp eq ptr %p, null
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}

define i32 @grouped(i1 %c) comdat($group) {
  br i1 %c, label %a, label %b
a:
  %v = load i32, ptr @__p3_counters
  ret i32 %v
b:
  %w = call i32 @__p3_count(ptr null, i64 3) memory(none)
  ret i32 %w
}

define available_externally i32 @elsewhere(i1 %c) {
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}

define ptr @resolver() {
  ret ptr @grouped
}

define void @bare() naked {
  call void asm sideeffect "ret", ""()
  unreachable
}

define i32 @prefixed(i1 %c) prefix i32 7 prologue i8 -112 {
  br i1 %c, label %a, label %b
a:
  ret i32 1
b:
  ret i32 2
}

define void @aligned() strictfp section ".text.odd" align 64 {
  call void @callee() strictfp
  ret void
}
