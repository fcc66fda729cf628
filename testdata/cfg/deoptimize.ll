; Nothing may come between a deoptimization and the return either.
declare i32 @llvm.experimental.deoptimize.i32(...)
declare void @llvm.experimental.deoptimize.isVoid(...)

define i32 @f(i32 %n) {
entry:
  %c = icmp slt i32 %n, 0
  br i1 %c, label %tail, label %here

tail:
  %v = call i32 (...) @llvm.experimental.deoptimize.i32(i32 %n) [ "deopt"(i32 %n) ]
  ret i32 %v

here:
  ret i32 0
}

define void @g(i1 %c) {
entry:
  br i1 %c, label %tail, label %here

tail:
  call void (...) @llvm.experimental.deoptimize.isVoid() [ "deopt"() ]
  ret void

here:
  ret void
}
