; A function's own address, not that of its entry in a jump table.
@body = global ptr no_cfi @taken

define internal i32 @taken(i32 %n) {
  ret i32 %n
}

define i32 @f() {
  %p = load ptr, ptr @body
  %r = call i32 %p(i32 3)
  ret i32 %r
}
