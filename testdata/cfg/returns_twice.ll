; The second return of setjmp finds the path register as the first one left it.
declare i32 @setjmp(ptr) returns_twice
declare void @g(i32)

define i32 @f(ptr %env, i1 %c) {
entry:
  br i1 %c, label %a, label %b

a:
  br label %set

b:
  br label %set

set:
  %n = phi i32 [ 1, %a ], [ 2, %b ]
  %again = call i32 @setjmp(ptr %env)
  %first = icmp eq i32 %again, 0
  br i1 %first, label %work, label %out

work:
  call void @g(i32 %n)
  br label %out

out:
  %v = phi i32 [ %n, %work ], [ %again, %set ]
  ret i32 %v
}
