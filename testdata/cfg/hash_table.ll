; 2^19 paths: a hash table, and calls of the runtime.
define i32 @f(i32 %n) {
entry:
  br label %s0

s0:
  %b0 = and i32 %n, 1
  %c0 = icmp eq i32 %b0, 0
  br i1 %c0, label %t0, label %s1

t0:
  br label %s1

s1:
  %b1 = and i32 %n, 2
  %c1 = icmp eq i32 %b1, 0
  br i1 %c1, label %t1, label %s2

t1:
  br label %s2

s2:
  %b2 = and i32 %n, 4
  %c2 = icmp eq i32 %b2, 0
  br i1 %c2, label %t2, label %s3

t2:
  br label %s3

s3:
  %b3 = and i32 %n, 8
  %c3 = icmp eq i32 %b3, 0
  br i1 %c3, label %t3, label %s4

t3:
  br label %s4

s4:
  %b4 = and i32 %n, 16
  %c4 = icmp eq i32 %b4, 0
  br i1 %c4, label %t4, label %s5

t4:
  br label %s5

s5:
  %b5 = and i32 %n, 32
  %c5 = icmp eq i32 %b5, 0
  br i1 %c5, label %t5, label %s6

t5:
  br label %s6

s6:
  %b6 = and i32 %n, 64
  %c6 = icmp eq i32 %b6, 0
  br i1 %c6, label %t6, label %s7

t6:
  br label %s7

s7:
  %b7 = and i32 %n, 128
  %c7 = icmp eq i32 %b7, 0
  br i1 %c7, label %t7, label %s8

t7:
  br label %s8

s8:
  %b8 = and i32 %n, 256
  %c8 = icmp eq i32 %b8, 0
  br i1 %c8, label %t8, label %s9

t8:
  br label %s9

s9:
  %b9 = and i32 %n, 512
  %c9 = icmp eq i32 %b9, 0
  br i1 %c9, label %t9, label %s10

t9:
  br label %s10

s10:
  %b10 = and i32 %n, 1024
  %c10 = icmp eq i32 %b10, 0
  br i1 %c10, label %t10, label %s11

t10:
  br label %s11

s11:
  %b11 = and i32 %n, 2048
  %c11 = icmp eq i32 %b11, 0
  br i1 %c11, label %t11, label %s12

t11:
  br label %s12

s12:
  %b12 = and i32 %n, 4096
  %c12 = icmp eq i32 %b12, 0
  br i1 %c12, label %t12, label %s13

t12:
  br label %s13

s13:
  %b13 = and i32 %n, 8192
  %c13 = icmp eq i32 %b13, 0
  br i1 %c13, label %t13, label %s14

t13:
  br label %s14

s14:
  %b14 = and i32 %n, 16384
  %c14 = icmp eq i32 %b14, 0
  br i1 %c14, label %t14, label %s15

t14:
  br label %s15

s15:
  %b15 = and i32 %n, 32768
  %c15 = icmp eq i32 %b15, 0
  br i1 %c15, label %t15, label %s16

t15:
  br label %s16

s16:
  %b16 = and i32 %n, 65536
  %c16 = icmp eq i32 %b16, 0
  br i1 %c16, label %t16, label %s17

t16:
  br label %s17

s17:
  %b17 = and i32 %n, 131072
  %c17 = icmp eq i32 %b17, 0
  br i1 %c17, label %t17, label %s18

t17:
  br label %s18

s18:
  %b18 = and i32 %n, 262144
  %c18 = icmp eq i32 %b18, 0
  br i1 %c18, label %t18, label %s19

t18:
  br label %s19

s19:
  ret i32 %n
}
