; A constant splat of a scalable vector is a shufflevector expression, whose mask the C API does not show.
define <vscale x 4 x i32> @f(<vscale x 4 x i32> %v, i1 %c) {
entry:
  br i1 %c, label %add, label %shuffle

add:
  %a = add <vscale x 4 x i32> %v, shufflevector (<vscale x 4 x i32> insertelement (<vscale x 4 x i32> poison, i32 7, i64 0), <vscale x 4 x i32> poison, <vscale x 4 x i32> zeroinitializer)
  ret <vscale x 4 x i32> %a

shuffle:
  %s = shufflevector <vscale x 4 x i32> %v, <vscale x 4 x i32> poison, <vscale x 4 x i32> zeroinitializer
  ret <vscale x 4 x i32> %s
}
