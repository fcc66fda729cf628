; `s` says how the stack is aligned, with or without an address space; LLVM reads it and forgets it.
target datalayout = "e-p:64:64:64-s:64:64-s0:64:64-n8:16:32:64-S128"

define i32 @f(i32 %n) {
entry:
  %c = icmp sgt i32 %n, 3
  br i1 %c, label %then, label %else

then:
  ret i32 1

else:
  ret i32 2
}
