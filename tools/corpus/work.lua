-- A workload for the Lua interpreter: numbers, tables, strings, closures, coroutines, errors.
local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local function permute(a, n, visit)
  if n == 0 then return visit(a) end
  for i = 1, n do
    a[i], a[n] = a[n], a[i]
    permute(a, n - 1, visit)
    a[i], a[n] = a[n], a[i]
  end
end

local function words(seed, n)
  local list = {}
  for i = 1, n do
    seed = (seed * 1103515245 + 12345) % 2147483648
    list[i] = string.format("w%x", seed // 65536)
  end
  return list
end

local rounds = tonumber(arg and arg[1]) or 3
for round = 1, rounds do
  print("primes", sieve(60000 + round))
  local sum = 0
  permute({1, 2, 3, 4, 5, 6, 7}, 7, function(a) sum = sum + a[1] * a[7] end)
  print("permutations", sum)
  local list = words(round, 4000)
  table.sort(list)
  print("words", list[1], list[#list], #table.concat(list, " "):gsub("w(%x)", "%1"))
  local failed = 0
  for i = 1, 3000 do
    local ok = pcall(function() if i % 3 == 0 then error({code = i}) elseif i % 7 == 0 then local x = nil + i end end)
    if not ok then failed = failed + 1 end
  end
  print("failed", failed)
  local produce = coroutine.wrap(function() for i = 1, 5000 do coroutine.yield(i * i) end return -1 end)
  local total, v = 0, produce()
  while v >= 0 do total = total + v; v = produce() end
  print("yielded", total)
end
