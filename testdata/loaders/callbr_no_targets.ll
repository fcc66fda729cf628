; asm goto that can only fall through.
define i32 @f(i32 %n) {
entry:
  callbr void asm sideeffect "", "r"(i32 %n) to label %next []

next:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %zero, label %other

zero:
  ret i32 0

other:
  ret i32 1
}
