-- Packing, UTF-8, bytes, moves, collection of garbage
local packed = ""
for i = 1, 120 do packed = packed .. string.pack("<i4z", i, tostring(i)) end
local at, sum = 1, 0
while at <= #packed do local n, s; n, s, at = string.unpack("<i4z", packed, at); sum = sum + n + #s end
collectgarbage()
print(sum, utf8.len("äöü€"), utf8.char(228, 8364), table.unpack(table.move({ 1, 2, 3 }, 1, 3, 2)), math.type(3.0), ("%q"):format("a\nb"))
