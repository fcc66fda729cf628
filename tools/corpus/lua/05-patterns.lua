-- Captures, anchors, balanced brackets, replacement by functions and tables
local text = ("key%d = (a (b) c) # note\n"):rep(60)
local n = 0
local out = text:gsub("(%w+)%s*=%s*(%b())", function(k, v) n = n + #v; return v .. k end)
print(n, #out, out:find("^%((.-)%)"), (text:gsub("%a", { a = "1", b = 2 })):sub(1, 20))
