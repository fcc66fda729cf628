; Edges of an indirectbr cannot be split; targets are shared, and the loop goes over them.
define i32 @f(ptr %code, i32 %n) {
entry:
  %to = load ptr, ptr %code
  indirectbr ptr %to, [ label %a, label %b, label %out ]

a:
  %x = phi i32 [ %n, %entry ], [ %y2, %b ]
  %x2 = add i32 %x, 1
  %next.a = load ptr, ptr %code
  indirectbr ptr %next.a, [ label %b, label %out ]

b:
  %y = phi i32 [ %n, %entry ], [ %x2, %a ]
  %y2 = mul i32 %y, 3
  %next.b = load ptr, ptr %code
  indirectbr ptr %next.b, [ label %a, label %out, label %out ]

out:
  %z = phi i32 [ %n, %entry ], [ %x2, %a ], [ %y2, %b ], [ %y2, %b ]
  ret i32 %z
}
