; A clean-up of Windows that goes on to another one: a funclet, skipped by itself.
declare i32 @__CxxFrameHandler3(...)
declare void @may_throw()

define void @windows() personality ptr @__CxxFrameHandler3 {
entry:
  invoke void @may_throw() to label %done unwind label %inner

inner:
  %a = cleanuppad within none []
  cleanupret from %a unwind label %outer

outer:
  %b = cleanuppad within none []
  cleanupret from %b unwind to caller

done:
  ret void
}

define i32 @beside(i32 %n) {
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %zero, label %other

zero:
  ret i32 0

other:
  ret i32 1
}
