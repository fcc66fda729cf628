; Nothing may come between a musttail call and the return.
declare i32 @g(i32)

define i32 @f(i32 %n) {
entry:
  %c = icmp slt i32 %n, 0
  br i1 %c, label %tail, label %here

tail:
  %v = musttail call i32 @g(i32 %n)
  ret i32 %v

here:
  ret i32 0
}
