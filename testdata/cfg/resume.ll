; An activation that ends by passing an exception on has completed its path.
declare void @g()
declare void @h()
declare i32 @__gxx_personality_v0(...)

define void @f(i1 %c) personality ptr @__gxx_personality_v0 {
entry:
  br i1 %c, label %call, label %done

call:
  invoke void @g() to label %done unwind label %pad

pad:
  %p = landingpad { ptr, i32 } cleanup
  call void @h()
  resume { ptr, i32 } %p

done:
  ret void
}
