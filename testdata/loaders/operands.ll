; Addresses of functions where none is expected: in conditions, sizes, indices and floating-point numbers.
@data = global [9 x i8] zeroinitializer
@end = global ptr getelementptr (i8, ptr @data, i64 sub (i64 ptrtoint (ptr @in_gep_index to i64), i64 7))

define internal void @in_condition() {
  ret void
}

define internal void @in_float() {
  ret void
}

define internal void @in_gep_index() {
  ret void
}

define internal void @in_size() {
  ret void
}

define internal void @in_switch() {
  ret void
}

define internal void @not_taken() {
  ret void
}

define double @f() {
entry:
  %space = alloca i8, i32 trunc (i64 ptrtoint (ptr @in_size to i64) to i32)
  br i1 trunc (i64 ptrtoint (ptr @in_condition to i64) to i1), label %then, label %else

then:
  call void @not_taken()
  switch i64 ptrtoint (ptr @in_switch to i64), label %else [ i64 3, label %other ]

other:
  ret double 0.0

else:
  %x = fadd double bitcast (i64 ptrtoint (ptr @in_float to i64) to double), 1.0
  ret double %x
}
