// Counts the odd numbers below 100: the exit status is 0 if there are 50.
func.func @odd(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %bit = arith.andi %n, %one : i32
  return %bit : i32
}
func.func @main() -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %end = arith.constant 100 : i32
  %expected = arith.constant 50 : i32
  %count = scf.for %i = %zero to %end step %one iter_args(%sum = %zero) -> (i32) : i32 {
    %odd = func.call @odd(%i) : (i32) -> i32
    %is = arith.cmpi eq, %odd, %one : i32
    %next = scf.if %is -> (i32) {
      %more = arith.addi %sum, %one : i32
      scf.yield %more : i32
    } else {
      scf.yield %sum : i32
    }
    scf.yield %next : i32
  }
  %off = arith.subi %count, %expected : i32
  return %off : i32
}
