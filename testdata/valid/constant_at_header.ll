; The large loop has too many paths for an array, and some of them in a window. The register is a key at its header, and
; an id behind it. In a shadow, which is entered at the header, it is a constant there, to which an edge adds.
@bits = global i64 0

define void @scan(i1 %c) {
entry:
  br i1 %c, label %b8, label %b3
b3:
  br i1 %c, label %b5, label %b4
b4:
  br i1 %c, label %b8, label %b5
b5:
  br i1 %c, label %b8, label %b6
b6:
  br i1 %c, label %b7, label %b8
b7:
  br i1 %c, label %b8, label %b8
b8:
  br i1 %c, label %b9, label %b10
b9:
  br i1 %c, label %b10, label %b72
b10:
  br i1 %c, label %b11, label %b13
b11:
  br i1 %c, label %b12, label %b13
b12:
  br label %b13
b13:
  br i1 %c, label %b14, label %b16
b14:
  br i1 %c, label %b15, label %b16
b15:
  br i1 %c, label %b14, label %b16
b16:
  br i1 %c, label %b27, label %b17
b17:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  br i1 %c, label %b22, label %b26
b22:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  br label %b26
b26:
  br label %b27
b27:
  br i1 %c, label %b28, label %b72
b28:
  br i1 %c, label %b68, label %b29
b29:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  store volatile i64 4, ptr @bits
  store volatile i64 5, ptr @bits
  store volatile i64 6, ptr @bits
  store volatile i64 7, ptr @bits
  store volatile i64 8, ptr @bits
  store volatile i64 9, ptr @bits
  store volatile i64 10, ptr @bits
  br i1 %c, label %b64, label %b41
b41:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  store volatile i64 4, ptr @bits
  store volatile i64 5, ptr @bits
  store volatile i64 6, ptr @bits
  br i1 %c, label %b49, label %b64
b49:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  store volatile i64 4, ptr @bits
  br label %b55
b55:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  store volatile i64 4, ptr @bits
  store volatile i64 5, ptr @bits
  store volatile i64 6, ptr @bits
  store volatile i64 7, ptr @bits
  br i1 %c, label %b62, label %b55
b62:
  store volatile i64 0, ptr @bits
  br i1 %c, label %b68, label %b64
b64:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  br i1 %c, label %b68, label %b64
b68:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  br i1 %c, label %b72, label %b97
b72:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  br i1 %c, label %b88, label %b75
b75:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  br i1 %c, label %b88, label %b80
b80:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  store volatile i64 4, ptr @bits
  br i1 %c, label %b86, label %b88
b86:
  store volatile i64 0, ptr @bits
  br label %b88
b88:
  br i1 %c, label %b97, label %b89
b89:
  store volatile i64 0, ptr @bits
  store volatile i64 1, ptr @bits
  store volatile i64 2, ptr @bits
  store volatile i64 3, ptr @bits
  store volatile i64 4, ptr @bits
  store volatile i64 5, ptr @bits
  store volatile i64 6, ptr @bits
  br i1 %c, label %b97, label %b8
b97:
  br i1 %c, label %b100, label %b98
b98:
  br i1 %c, label %b100, label %b99
b99:
  br i1 %c, label %b100, label %b100
b100:
  br i1 %c, label %b101, label %b102
b101:
  unreachable
b102:
  ret void
}
