; Calls in tail position, behind which a block, or one that it jumps to, does no more than return: LLVM makes jumps of
; them, unless something stands in between.

declare i32 @callee(i32)
declare void @nothing()
declare void @something()
declare void @llvm.assume(i1)

; Two of the blocks in front of the return end in such calls; one does not, and one returns another value.
define i32 @joined(i32 %n) {
entry:
  switch i32 %n, label %plain [
    i32 1, label %one
    i32 2, label %two
    i32 3, label %marked
    i32 4, label %other
  ]
one:
  %a = tail call i32 @callee(i32 1)
  br label %return
two:
  %b = tail call i32 @callee(i32 2)
  call void @llvm.assume(i1 true)
  br label %return
marked:
  %c = call i32 @callee(i32 3)
  br label %return
other:
  %d = tail call i32 @callee(i32 4)
  br label %return
plain:
  br label %return
return:
  %r = phi i32 [ %a, %one ], [ %b, %two ], [ %c, %marked ], [ 7, %other ], [ 8, %plain ]
  ret i32 %r
}

; Nothing but such calls leads to the return.
define void @only(i1 %c) {
entry:
  br i1 %c, label %left, label %right
left:
  tail call void @nothing()
  br label %return
right:
  tail call void @something()
  br label %return
return:
  ret void
}

; The return stands behind the call.
define i32 @direct(i32 %n) {
entry:
  %is = icmp eq i32 %n, 0
  br i1 %is, label %call, label %other
call:
  %v = tail call i32 @callee(i32 %n)
  ret i32 %v
other:
  ret i32 %n
}

; The block that returns does something else first.
define i32 @busy(i32 %n) {
entry:
  %is = icmp eq i32 %n, 0
  br i1 %is, label %call, label %return
call:
  %v = tail call i32 @callee(i32 %n)
  br label %return
return:
  %r = phi i32 [ %v, %call ], [ %n, %entry ]
  %s = add i32 %r, 1
  ret i32 %s
}
