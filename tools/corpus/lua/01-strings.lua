-- Words, their case and their lengths
local words = {}
for w in ("the quick brown fox jumps over the lazy dog "):rep(40):gmatch("%a+") do words[#words + 1] = w:upper():sub(1, 3) end
print(#words, table.concat(words, " ", 1, 9))
