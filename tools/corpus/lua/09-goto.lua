-- Nested loops that are left and gone on with, and closed variables
local found = 0
for i = 1, 60 do
    local guard <close> = setmetatable({}, { __close = function() found = found + 1 end })
    for j = 1, 60 do
        if (i * j) % 17 == 0 then goto continue end
        if i + j > 100 then break end
        found = found + 1
        ::continue::
    end
end
local i = 0
repeat i = i + 1 until i * i > 5000
while i > 0 do i = i - 3 end
print(found, i)
