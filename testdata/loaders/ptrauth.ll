; llvm-ir shows these. A signed pointer: the address of @taken, a key and a discriminator.
@signed = global ptr ptrauth (ptr @taken, i32 0, i64 1234)

define internal void @taken() {
  ret void
}

define void @f(i1 %c) {
entry:
  br i1 %c, label %call, label %done

call:
  %p = load ptr, ptr @signed
  call void %p() [ "ptrauth"(i32 0, i64 1234) ]
  br label %done

done:
  ret void
}
