; A path that ends in unreachable is counted before the call that does not return.
declare void @exit(i32) noreturn
declare void @log()

define void @f(i1 %c) {
entry:
  br i1 %c, label %die, label %live

die:
  call void @log()
  call void @exit(i32 3)
  unreachable

live:
  ret void
}
