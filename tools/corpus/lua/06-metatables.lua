-- Objects: inheritance, operators, absent fields
local V = {}
V.__index = function(_, k) return rawget(V, k) or #k end
V.__add = function(a, b) return setmetatable({ a[1] + b[1], a[2] + b[2] }, V) end
V.__eq = function(a, b) return a[1] == b[1] and a[2] == b[2] end
V.__lt = function(a, b) return a[1] < b[1] end
V.__tostring = function(v) return v[1] .. ":" .. v[2] end
local v = setmetatable({ 0, 0 }, V)
for i = 1, 300 do v = v + setmetatable({ i, -i }, V) end
print(tostring(v), v == v + setmetatable({ 0, 0 }, V), v < v, v.absent)
