; Two paths that meet: no edge needs to be split.
define i32 @f(i1 %c) {
entry:
  br i1 %c, label %yes, label %no

yes:
  br label %join

no:
  br label %join

join:
  %v = phi i32 [ 1, %yes ], [ 2, %no ]
  ret i32 %v
}
