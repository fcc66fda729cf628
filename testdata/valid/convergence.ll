; Convergence tokens: intrinsics that begin the entry and a loop's header.
declare token @llvm.experimental.convergence.entry()
declare token @llvm.experimental.convergence.loop()
declare void @work() convergent

define void @f(i32 %n) convergent {
entry:
  %t = call token @llvm.experimental.convergence.entry()
  %c = icmp eq i32 %n, 0
  br i1 %c, label %out, label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %back ], [ %j, %loop ]
  %l = call token @llvm.experimental.convergence.loop() [ "convergencectrl"(token %t) ]
  call void @work() [ "convergencectrl"(token %l) ]
  %j = add i32 %i, 1
  %d = icmp slt i32 %j, %n
  br i1 %d, label %loop, label %back

back:
  %e = icmp eq i32 %j, 7
  br i1 %e, label %loop, label %out

out:
  ret void
}
