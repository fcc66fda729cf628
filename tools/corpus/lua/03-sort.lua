-- Tables in order, by a comparison of their own
local list, seed = {}, 7
for i = 1, 600 do seed = (seed * 1103515245 + 12345) % 2147483648; list[i] = seed % 1000 end
table.sort(list)
table.sort(list, function(a, b) return a % 10 < b % 10 or a % 10 == b % 10 and a < b end)
print(list[1], list[300], list[600])
