; Edges out of asm goto cannot be split, but for the one where it falls through.
define i32 @f(i32 %n) {
entry:
  br label %head

head:
  %i = phi i32 [ %n, %entry ], [ %j, %next ], [ %i, %head ]
  callbr void asm sideeffect "", "r,!i,!i"(i32 %i) to label %next [label %head, label %out]

next:
  %j = add i32 %i, -1
  %c = icmp eq i32 %j, 0
  br i1 %c, label %out, label %head

out:
  %v = phi i32 [ %i, %head ], [ 7, %next ]
  ret i32 %v
}
