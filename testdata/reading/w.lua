local t={} for i=1,300 do t[i]=(i*7919)%1000 end table.sort(t) local s=0 for k,v in ipairs(t) do if v%2==0 then s=s+v elseif v>500 then s=s-1 end end
print(s, string.rep("x",10):gsub("x","yz"), tostring(1.5), #t, ("%d %s"):format(3,"a"), pcall(error,"e"))
local f=load("return 1+2*3 // 2, 'a'..'b', {1,2,x=3}") print(f())
for w in string.gmatch("one two three", "%a+") do io.write(w,",") end
local co=coroutine.wrap(function(a) local b=coroutine.yield(a+1) return b*2 end) print(co(1),co(5))
setmetatable(t,{__index=function(_,k) return k end}) print(t[1000],t.foo)
