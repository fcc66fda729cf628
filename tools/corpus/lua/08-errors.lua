-- What goes wrong and is caught
local kinds = {}
for i = 1, 60 do
    local ok, message = pcall(function() if i % 3 == 0 then error({ code = i }) elseif i % 3 == 1 then return nil + i else return #i end end)
    kinds[type(message)] = (kinds[type(message)] or 0) + 1
end
print(kinds.table, kinds.string, xpcall(error, function(m) return "handled: " .. tostring(m) end, "x"), load("return +"))
