; asm goto with one target twice: which of the edges was taken cannot be told.
define void @asm(i32 %n) {
entry:
  callbr void asm sideeffect "", "r,!i,!i"(i32 %n) to label %done [label %other, label %other]

other:
  br label %done

done:
  ret void
}
