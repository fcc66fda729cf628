; Calls that belong to other instructions: guards, preallocated and inalloca arguments, swifterror, escapes.
declare void @llvm.experimental.guard(i1, ...)
declare token @llvm.call.preallocated.setup(i32)
declare ptr @llvm.call.preallocated.arg(token, i32)
declare i1 @llvm.experimental.widenable.condition()
declare void @llvm.localescape(...)
declare void @takes(ptr preallocated(i32))
declare void @fails(ptr swifterror)
declare i32 @llvm.experimental.deoptimize.i32(...)

define void @guards(i1 %c) {
entry:
  call void (i1, ...) @llvm.experimental.guard(i1 %c) [ "deopt"() ]
  br i1 %c, label %a, label %b
a:
  ret void
b:
  ret void
}

define i32 @widenable(i1 %c) {
entry:
  %w = call i1 @llvm.experimental.widenable.condition()
  %d = and i1 %c, %w
  br i1 %d, label %a, label %b
a:
  ret i32 0
b:
  %v = call i32 (...) @llvm.experimental.deoptimize.i32() [ "deopt"() ]
  ret i32 %v
}

define void @preallocates(i1 %c) {
entry:
  %t = call token @llvm.call.preallocated.setup(i32 1)
  %x = call ptr @llvm.call.preallocated.arg(token %t, i32 0) preallocated(i32)
  store i32 0, ptr %x
  call void @takes(ptr preallocated(i32) %x) [ "preallocated"(token %t) ]
  br i1 %c, label %a, label %b
a:
  ret void
b:
  ret void
}

define void @errors(i1 %c) {
entry:
  %e = alloca swifterror ptr
  store ptr null, ptr %e
  br i1 %c, label %loop, label %out
loop:
  call void @fails(ptr swifterror %e)
  %f = load ptr, ptr %e
  %n = icmp eq ptr %f, null
  br i1 %n, label %loop, label %out
out:
  ret void
}

define void @escapes(i1 %c) {
entry:
  %a = alloca i32
  call void (...) @llvm.localescape(ptr %a)
  br i1 %c, label %out, label %loop
loop:
  br i1 %c, label %out, label %loop
out:
  ret void
}
