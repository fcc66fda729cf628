; Safepoints that may unwind: what is relocated hangs on the token of the landing pad.
declare token @llvm.experimental.gc.statepoint.p0(i64 immarg, i32 immarg, ptr, i32 immarg, i32 immarg, ...)
declare ptr addrspace(1) @llvm.experimental.gc.relocate.p1(token, i32 immarg, i32 immarg)
declare void @call(i64)
declare i32 @personality(...)

define ptr addrspace(1) @f(ptr addrspace(1) %p, i1 %c) gc "statepoint-example" personality ptr @personality {
entry:
  br i1 %c, label %go, label %go.2

go:
  %s = invoke token (i64, i32, ptr, i32, i32, ...) @llvm.experimental.gc.statepoint.p0(i64 0, i32 0, ptr elementtype(void (i64)) @call, i32 1, i32 0, i64 5, i32 0, i32 0) [ "gc-live"(ptr addrspace(1) %p) ]
          to label %normal unwind label %pad

go.2:
  br label %normal.2

normal:
  %r = call ptr addrspace(1) @llvm.experimental.gc.relocate.p1(token %s, i32 0, i32 0)
  ret ptr addrspace(1) %r

normal.2:
  ret ptr addrspace(1) null

pad:
  %l = landingpad token cleanup
  %q = call ptr addrspace(1) @llvm.experimental.gc.relocate.p1(token %l, i32 0, i32 0)
  br i1 %c, label %left, label %right

left:
  ret ptr addrspace(1) %q

right:
  ret ptr addrspace(1) %p
}
