; `G` is the address space of globals.
target datalayout = "e-p1:64:64-G1"

@g = addrspace(1) global i32 5

define i32 @f() {
  %v = load i32, ptr addrspace(1) @g
  ret i32 %v
}
