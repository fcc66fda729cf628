; `s` without a preferred alignment.
target datalayout = "e-s:64"

define i32 @f(i32 %n) {
  ret i32 %n
}
