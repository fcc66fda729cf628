; A function by an address that need not be its canonical one. In an initialiser it takes the address of
; @elsewhere; as a callee it is no direct call.
declare void @elsewhere()

@table = constant i32 trunc (i64 sub (i64 ptrtoint (ptr dso_local_equivalent @elsewhere to i64), i64 ptrtoint (ptr @table to i64)) to i32)

define void @callee() {
  ret void
}

define void @f(i1 %c) {
entry:
  br i1 %c, label %call, label %done

call:
  call void dso_local_equivalent @callee()
  br label %done

done:
  ret void
}
