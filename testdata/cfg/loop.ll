; A path ends on the back edge and another begins.
define i32 @f(i32 %n) {
entry:
  br label %head

head:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i32 %i, %n
  br i1 %more, label %body, label %done

body:
  %next = add i32 %i, 1
  br label %head

done:
  ret i32 %i
}
