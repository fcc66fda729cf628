; Edges of one pair of blocks are different paths.
define i32 @f(i32 %n) {
entry:
  switch i32 %n, label %other [
    i32 1, label %few
    i32 2, label %few
    i32 3, label %other
  ]

few:
  %v = phi i32 [ 7, %entry ], [ 7, %entry ]
  br label %join

other:
  br label %join

join:
  %w = phi i32 [ %v, %few ], [ 9, %other ]
  ret i32 %w
}
