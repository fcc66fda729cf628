; Loops that hold what must not be copied, each in a function of its own; the last one may be.
target triple = "x86_64-unknown-linux-gnu"

declare void @once() noduplicate
declare i32 @again() returns_twice
declare swiftcc void @fails(ptr swifterror)
declare void @call()
declare token @llvm.experimental.gc.statepoint.p0(i64 immarg, i32 immarg, ptr, i32 immarg, i32 immarg, ...)
declare i1 @llvm.experimental.gc.result.i1(token)

define void @label(i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  call void asm sideeffect "single_label: nop", ""()
  %c = icmp slt i32 %i, %n
  br i1 %c, label %next, label %out

next:
  %j = add i32 %i, 1
  br label %loop

out:
  ret void
}

define void @attribute_of_declaration(i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  call void @once()
  %c = icmp slt i32 %i, %n
  br i1 %c, label %next, label %out

next:
  %j = add i32 %i, 1
  br label %loop

out:
  ret void
}

define void @returns_again(i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  %r = call i32 @again()
  %c = icmp slt i32 %r, %n
  br i1 %c, label %next, label %out

next:
  %j = add i32 %i, 1
  br label %loop

out:
  ret void
}

define swiftcc void @swift_error(i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  %e = alloca swifterror ptr
  store ptr null, ptr %e
  %c = icmp slt i32 %i, %n
  br i1 %c, label %next, label %out

next:
  %j = add i32 %i, 1
  br label %loop

out:
  call swiftcc void @fails(ptr swifterror %e)
  ret void
}

define i1 @token(i32 %n) gc "statepoint-example" {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  %s = call token (i64, i32, ptr, i32, i32, ...) @llvm.experimental.gc.statepoint.p0(i64 0, i32 0, ptr elementtype(i1 ()) @call, i32 0, i32 0, i32 0, i32 0)
  %c = icmp slt i32 %i, %n
  br i1 %c, label %next, label %out

next:
  %j = add i32 %i, 1
  br label %loop

out:
  %r = call i1 @llvm.experimental.gc.result.i1(token %s)
  ret i1 %r
}

define void @label_per_copy(i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %j, %next ]
  call void asm sideeffect "many_labels_${:uid}: jmp many_labels_${:uid}", ""()
  %c = icmp slt i32 %i, %n
  br i1 %c, label %next, label %out

next:
  %j = add i32 %i, 1
  br label %loop

out:
  ret void
}
