-- Functions that keep variables, and take any number of arguments
local function counter(step) local n = 0; return function(...) n = n + step + select("#", ...); return n end end
local all = {}
for i = 1, 50 do all[i] = counter(i) end
local last
for _ = 1, 20 do for i = 1, 50 do last = all[i](i, nil, "x") end end
print(last)
