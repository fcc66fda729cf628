; What the assembler leaves on an indirect edge is read by the first instruction of its target: not even a φ
; may come before it.
declare i32 @llvm.callbr.landingpad.i32(i32)

define i32 @f(i32 %n) {
entry:
  %a = callbr i32 asm "", "=r,r,!i,!i"(i32 %n) to label %next [label %left, label %right]

next:
  ret i32 %a

left:
  %b = call i32 @llvm.callbr.landingpad.i32(i32 %a)
  %c = icmp eq i32 %b, 0
  br i1 %c, label %next.2, label %next.3

next.2:
  ret i32 0

next.3:
  ret i32 1

right:
  %d = call i32 @llvm.callbr.landingpad.i32(i32 %a)
  ret i32 %d
}
