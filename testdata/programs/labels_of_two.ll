; Tables of labels as clang does not write them: a function with two jumps by two tables, tables that several functions
; share, an address that a phi and a select choose, elements of a table known by constants, targets named twice.

target triple = "x86_64-unknown-linux-gnu"

@format = private constant [9 x i8] c"%ld %ld\0A\00"
@first = internal constant [4 x ptr] [
  ptr null, ptr blockaddress(@two, %a), ptr blockaddress(@two, %b), ptr blockaddress(@two, %out)]
@both = internal constant [6 x ptr] [
  ptr blockaddress(@other, %x), ptr blockaddress(@other, %y), ptr blockaddress(@other, %out),
  ptr blockaddress(@third, %x), ptr blockaddress(@third, %y), ptr blockaddress(@third, %out)]
@second = private unnamed_addr constant { i64, [3 x ptr], [2 x ptr] } {
  i64 3, [3 x ptr] [ptr blockaddress(@two, %b), ptr blockaddress(@two, %a), ptr blockaddress(@two, %c)],
  [2 x ptr] [ptr blockaddress(@two, %a), ptr null] }
@written = internal global [2 x ptr] [ptr blockaddress(@writes, %left), ptr blockaddress(@writes, %right)]
@visible = constant [2 x ptr] [ptr blockaddress(@sees, %left), ptr blockaddress(@sees, %right)]

declare i32 @printf(ptr, ...)

; Two jumps. Operations are digits of n to the base 3.
define i64 @two(i64 %n) noinline {
entry:
  %start = urem i64 %n, 2
  %p = getelementptr inbounds [4 x ptr], ptr getelementptr (i8, ptr @first, i64 8), i64 0, i64 %start
  %t = load ptr, ptr %p
  br label %jump
jump:
  %to = phi ptr [ %t, %entry ], [ %ta, %a ], [ blockaddress(@two, %out), %c ]
  %left = phi i64 [ %n, %entry ], [ %la, %a ], [ %lc, %c ]
  %sum = phi i64 [ 1, %entry ], [ %sa, %a ], [ %sc, %c ]
  indirectbr ptr %to, [label %a, label %b, label %a, label %out]
a:
  %xa = phi i64 [ %left, %jump ], [ %left, %jump ], [ %lb, %jump2 ]
  %ya = phi i64 [ %sum, %jump ], [ %sum, %jump ], [ %sb, %jump2 ]
  %la = udiv i64 %xa, 3
  %sa = add i64 %ya, 5
  %da = urem i64 %la, 3
  %ea = icmp eq i64 %la, 0
  %pa = getelementptr ptr, ptr getelementptr inbounds ([4 x ptr], ptr @first, i64 0, i64 1), i64 %da
  %va = load ptr, ptr %pa
  %there = icmp ne ptr %va, null
  call void @use(i1 %there)
  %ta = select i1 %ea, ptr blockaddress(@two, %out), ptr %va
  br label %jump
b:
  %xb = phi i64 [ %left, %jump ], [ %lb, %jump2 ]
  %yb = phi i64 [ %sum, %jump ], [ %sb, %jump2 ]
  %lb = udiv i64 %xb, 3
  %odd = and i64 %yb, 1
  %is = icmp eq i64 %odd, 1
  br i1 %is, label %b1, label %jump2
b1:
  %more = mul i64 %yb, 3
  br label %jump2
jump2:
  %sb = phi i64 [ %yb, %b ], [ %more, %b1 ]
  %none = icmp eq i64 %lb, 0
  %db = urem i64 %lb, 3
  %pb = getelementptr [3 x ptr], ptr getelementptr (i8, ptr @second, i64 8), i64 0, i64 %db
  %vb = load ptr, ptr %pb, align 8
  %va2 = load ptr, ptr getelementptr inbounds ({ i64, [3 x ptr], [2 x ptr] }, ptr @second, i64 0, i32 2, i64 0)
  %sel = select i1 %none, ptr %va2, ptr %vb
  %sure = freeze ptr %sel
  indirectbr ptr %sure, [label %b, label %a, label %c]
c:
  %lc = add i64 %lb, 1
  %sc = add i64 %sb, 7
  br label %jump
out:
  ret i64 %sum
}

; Two functions whose labels stand in one table.
define i64 @other(i64 %n) noinline {
entry:
  br label %jump
jump:
  %i = phi i64 [ 0, %entry ], [ %ix, %x ], [ %iy, %y ]
  %sum = phi i64 [ 0, %entry ], [ %sx, %x ], [ %sy, %y ]
  %bit = lshr i64 %n, %i
  %digit = and i64 %bit, 1
  %end = icmp ugt i64 %i, 12
  %index = select i1 %end, i64 2, i64 %digit
  %p = getelementptr inbounds ptr, ptr @both, i64 %index
  %t = load ptr, ptr %p
  indirectbr ptr %t, [label %x, label %y, label %out]
x:
  %ix = add i64 %i, 1
  %sx = add i64 %sum, %i
  br label %jump
y:
  %iy = add i64 %i, 2
  %sy = xor i64 %sum, 21
  br label %jump
out:
  ret i64 %sum
}

define i64 @third(i64 %n) noinline {
entry:
  br label %jump
jump:
  %i = phi i64 [ 0, %entry ], [ %ix, %x ], [ %iy, %y ]
  %sum = phi i64 [ 0, %entry ], [ %sx, %x ], [ %sy, %y ]
  %bit = lshr i64 %n, %i
  %digit = and i64 %bit, 1
  %end = icmp ugt i64 %i, 12
  %index = select i1 %end, i64 2, i64 %digit
  %p = getelementptr inbounds ptr, ptr getelementptr inbounds ([6 x ptr], ptr @both, i64 0, i64 3), i64 %index
  %t = load ptr, ptr %p
  indirectbr ptr %t, [label %x, label %y, label %out]
x:
  %ix = add i64 %i, 1
  %sx = add i64 %sum, %i
  br label %jump
y:
  %iy = add i64 %i, 2
  %sy = mul i64 %sum, 3
  br label %jump
out:
  ret i64 %sum
}

; The labels may change, or be others in another module: such jumps stay.
define i64 @writes(i64 %n) noinline {
entry:
  br label %jump
jump:
  %i = phi i64 [ %n, %entry ], [ %il, %left ]
  %end = icmp slt i64 %i, 1
  %index = zext i1 %end to i64
  %p = getelementptr [2 x ptr], ptr @written, i64 0, i64 %index
  %t = load ptr, ptr %p
  indirectbr ptr %t, [label %left, label %right]
left:
  %il = sub i64 %i, 3
  br label %jump
right:
  ret i64 %i
}

define i64 @sees(i64 %n) noinline {
entry:
  br label %jump
jump:
  %i = phi i64 [ %n, %entry ], [ %il, %left ]
  %end = icmp slt i64 %i, 1
  %index = zext i1 %end to i64
  %p = getelementptr [2 x ptr], ptr @visible, i64 0, i64 %index
  %t = load ptr, ptr %p
  indirectbr ptr %t, [label %left, label %right]
left:
  %il = sub i64 %i, 2
  br label %jump
right:
  ret i64 %i
}

@uses = internal global i64 0

define void @use(i1 %there) noinline {
  %z = zext i1 %there to i64
  %u = load i64, ptr @uses
  %v = add i64 %u, %z
  store i64 %v, ptr @uses
  ret void
}

define void @swap() {
  %l = load ptr, ptr @written
  store ptr %l, ptr @written
  ret void
}

define i32 @main() {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %n = mul i64 %i, 37
  %r = call i64 @two(i64 %n)
  %v = call i64 @other(i64 %n)
  %w = call i64 @third(i64 %n)
  %s = add i64 %v, %w
  call i32 (ptr, ...) @printf(ptr @format, i64 %r, i64 %s)
  %t = call i64 @writes(i64 %i)
  %u = call i64 @sees(i64 %i)
  call void @swap()
  call i32 (ptr, ...) @printf(ptr @format, i64 %t, i64 %u)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 60
  br i1 %more, label %loop, label %exit
exit:
  ret i32 0
}
