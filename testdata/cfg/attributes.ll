; @counted writes memory now, @caller may reach it: both, and the calls, lose what is false.
; @leaf is left out by the test, and stays as it is.
define i32 @counted(i32 %n) #0 {
  %m = mul i32 %n, %n
  ret i32 %m
}

define i32 @caller(i32 %n) #0 {
  %v = call i32 @counted(i32 %n) #1
  %w = call i32 @leaf(i32 %v) #1
  ret i32 %w
}

define i32 @leaf(i32 %n) #0 {
  ret i32 %n
}

attributes #0 = { nofree norecurse nosync nounwind speculatable willreturn memory(none) }
attributes #1 = { nounwind memory(none) }
