-- Producers and consumers
local function numbers(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i, i * i) end end) end
local sum = 0
for i, square in numbers(500) do sum = sum + square - i end
local dead = coroutine.create(function() return 1 end)
print(sum, coroutine.resume(dead), coroutine.status(dead), coroutine.resume(dead))
