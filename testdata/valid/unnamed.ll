; Functions without a name, one of which an optimiser would believe to do nothing.
@format = private constant [4 x i8] c"%d\0A\00"

declare i32 @printf(ptr, ...)

define i32 @0(i32 %n) memory(none) nounwind willreturn {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %out
out:
  ret i32 %j
}

define void @1(i1 %c) {
  br i1 %c, label %a, label %b
a:
  %v = call i32 @0(i32 3)
  call i32 (ptr, ...) @printf(ptr @format, i32 %v)
  ret void
b:
  %w = call i32 @0(i32 5) memory(none)
  call i32 (ptr, ...) @printf(ptr @format, i32 %w)
  ret void
}

define i32 @main() {
  call void @1(i1 true)
  call void @1(i1 false)
  call void @1(i1 false)
  ret i32 0
}
