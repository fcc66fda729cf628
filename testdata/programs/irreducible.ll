; Control flow that no C compiler writes: a loop with two entries, parallel edges of br and
; switch, self loops, blocks that cannot be reached, a musttail call, a branch back to itself.
@format = private constant [4 x i8] c"%d\0A\00"

declare i32 @printf(ptr, ...)

; Two entries into the loop {left, right}.
define internal i32 @two_entries(i32 %n) {
entry:
  %odd = and i32 %n, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %left, label %right

left:
  %l = phi i32 [ %n, %entry ], [ %r2, %right ]
  %l2 = sub i32 %l, 3
  %lc = icmp slt i32 %l2, 0
  br i1 %lc, label %done, label %right

right:
  %r = phi i32 [ %n, %entry ], [ %l2, %left ]
  %r2 = sub i32 %r, 2
  %rc = icmp slt i32 %r2, 0
  br i1 %rc, label %done, label %left

done:
  %v = phi i32 [ %l2, %left ], [ %r2, %right ]
  ret i32 %v

dead:
  br label %done2

done2:
  br label %dead
}

; Both ways of a br to one block, cases of one target, a case to the default.
define internal i32 @parallel(i32 %n) {
entry:
  %c = icmp sgt i32 %n, 4
  br i1 %c, label %next, label %next

next:
  switch i32 %n, label %other [
    i32 1, label %few
    i32 2, label %few
    i32 3, label %other
    i32 9, label %last
  ]

few:
  %f = phi i32 [ 10, %next ], [ 10, %next ]
  br label %last

other:
  %o = phi i32 [ 20, %next ], [ 20, %next ]
  br label %last

last:
  %v = phi i32 [ %f, %few ], [ %o, %other ], [ 30, %next ]
  ret i32 %v
}

define internal i32 @self(i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %i2, %loop ], [ %i2, %loop ]
  %i2 = add i32 %i, 1
  %s = icmp slt i32 %i2, %n
  %t = select i1 %s, i32 1, i32 0
  %m = and i32 %i2, 3
  %u = mul i32 %t, %m
  switch i32 %u, label %out [
    i32 1, label %loop
    i32 2, label %loop
  ]

out:
  ret i32 %i2
}

define internal i32 @tail(i32 %n) {
entry:
  %c = icmp slt i32 %n, 5
  br i1 %c, label %small, label %large

small:
  %v = musttail call i32 @parallel(i32 %n)
  ret i32 %v

large:
  %h = sdiv i32 %n, 2
  %w = musttail call i32 @tail(i32 %h)
  ret i32 %w
}

define i32 @main() {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %sum4, %loop ]
  %a = call i32 @two_entries(i32 %i)
  %b = call i32 @parallel(i32 %i)
  %c = call i32 @self(i32 %i)
  %d = call i32 @tail(i32 %i)
  %sum1 = add i32 %sum, %a
  %sum2 = add i32 %sum1, %b
  %sum3 = xor i32 %sum2, %c
  %sum4 = add i32 %sum3, %d
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 30
  br i1 %more, label %loop, label %end

end:
  %p = call i32 (ptr, ...) @printf(ptr @format, i32 %sum4)
  ret i32 0
}
