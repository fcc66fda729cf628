-- Integers and floats, and how they print
local sum, product = 0, 1.0
for i = 1, 4000 do sum = sum + i * i % 7; product = product * (1 + 1 / (i * i)) end
print(sum, ("%.6f"):format(product), 7 // 2, -7 % 3, 2 ^ 10, 1 << 40)
