; Two entries into the loop {left, right}: the retreating edge of the search ends paths.
define i32 @f(i1 %c, i32 %n) {
entry:
  br i1 %c, label %left, label %right

left:
  %l = phi i32 [ %n, %entry ], [ %r2, %right ]
  %l2 = sub i32 %l, 3
  %lc = icmp slt i32 %l2, 0
  br i1 %lc, label %done, label %right

right:
  %r = phi i32 [ %n, %entry ], [ %l2, %left ]
  %r2 = sub i32 %r, 2
  %rc = icmp slt i32 %r2, 0
  br i1 %rc, label %done, label %left

done:
  %v = phi i32 [ %l2, %left ], [ %r2, %right ]
  ret i32 %v
}
