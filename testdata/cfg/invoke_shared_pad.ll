; Unwind edges into one landing pad cannot be split: phis bring what is to be counted.
declare i32 @g(i32)
declare i32 @__gxx_personality_v0(...)

define i32 @f(i32 %n) personality ptr @__gxx_personality_v0 {
entry:
  br label %first

first:
  %i = phi i32 [ 0, %entry ], [ %b, %cont ], [ %i, %pad ]
  %a = invoke i32 @g(i32 %i) to label %second unwind label %pad

second:
  %b = invoke i32 @g(i32 %a) to label %cont unwind label %pad

cont:
  %c = icmp slt i32 %b, %n
  br i1 %c, label %first, label %done

pad:
  %p = landingpad { ptr, i32 } catch ptr null
  br label %first

done:
  ret i32 %b
}
