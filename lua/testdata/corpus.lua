return 1
----
return 3.99
----
return -3.99
----
return 'x'
----
return true
----
return false
----
return nil
----
return {}
----
return {1,2,3}
----
return {1,nil,3}
----
return {1,'a',{2,{3}}}
----
return {ok='fine'}
----
return {err='bad'}
----
return {err='ERR x\ny'}
----
return {ok='a\r\nb'}
----
return {double=3.5}
----
return {map={a=1,b=2}}
----
return {set={a=true,b=true}}
----
return {big_number='123456789012345678901234567890'}
----
return {verbatim_string={format='txt',string='hi'}}
----
return {verbatim_string={format='txt'}}
----
return {true,false,nil,1}
----
return {false,true}
----
redis.setresp(3) return {true,false}
----
redis.setresp(3) return true
----
redis.setresp(3) return false
----
redis.setresp(3) return nil
----
redis.setresp(3) return {double=1/0}
----
redis.setresp(3) return {double=0/0}
----
return {double=0/0}
----
return {double=1/3}
----
return {map={}}
----
return {set={}}
----
return print
----
return coroutine.create(function() end)
----
return cjson.null
----
return {1,2,foo='bar'}
----
return 1/0
----
return 0/0
----
return 2^53
----
return 2^63
----
return -2^63
----
return 1e300
----
return #KEYS .. KEYS[1] .. #ARGV .. ARGV[1] .. ARGV[2]
----
return {KEYS[1],KEYS[2],ARGV[2],ARGV[3]}
----
return redis.call('ping')
----
return redis.pcall('ping')
----
return redis.call('set','k','v')
----
return redis.call('get','nope')
----
redis.call('set','k','v') return redis.call('get','k')
----
return redis.call('nosuch')
----
return redis.pcall('nosuch')
----
return redis.call('get')
----
return redis.pcall('get')
----
return redis.call()
----
return redis.pcall()
----
return redis.call('set','k',{})
----
return redis.call('set','k',nil)
----
return redis.call('set','k',true)
----
return redis.pcall('set','k',true)
----
return redis.call('echo',3.5)
----
return redis.call('echo',3)
----
return redis.call('echo',1e15)
----
return redis.call('echo',1e100)
----
return redis.call('echo',-0)
----
return redis.call('echo',1/0)
----
return redis.call('echo',-1/0)
----
return redis.call('echo',0.1)
----
return redis.call('echo',123456789012345678)
----
redis.call('set','k','abc') return redis.call('incr','k')
----
redis.call('set','k','abc') return redis.pcall('incr','k')
----
redis.call('set','k','abc') local r=redis.pcall('incr','k') return {type(r), r.err, tostring(r.ignore_error_stats_update)}
----
local ok,e=pcall(redis.call,'nosuch') return {tostring(ok),type(e),e.err}
----
local ok,e=pcall(function() return redis.call('nosuch') end) local t={} for k,v in pairs(e) do t[#t+1]=tostring(k)..'='..tostring(v) end return t
----
return redis.error_reply('x')
----
return redis.error_reply('MY error here')
----
return redis.error_reply('-MY error here')
----
return redis.error_reply('-MY')
----
return redis.error_reply()
----
return redis.error_reply(1)
----
return redis.error_reply({})
----
return redis.status_reply('x')
----
return redis.status_reply()
----
return redis.status_reply(1)
----
return redis.status_reply('a','b')
----
return redis.sha1hex('')
----
return redis.sha1hex('abc')
----
return redis.sha1hex(1)
----
return redis.sha1hex()
----
return redis.sha1hex('a','b')
----
return redis.sha1hex({})
----
return redis.log(redis.LOG_DEBUG,'x')
----
return redis.log()
----
return redis.log(1)
----
return redis.log('x','y')
----
return redis.log(10,'y')
----
return redis.log('1','y')
----
return redis.setresp(2)
----
return redis.setresp(4)
----
return redis.setresp()
----
return redis.setresp('3')
----
return redis.set_repl(redis.REPL_ALL)
----
return redis.set_repl()
----
return redis.set_repl(99)
----
return redis.set_repl('x')
----
return redis.replicate_commands()
----
return redis.breakpoint()
----
return redis.debug('x')
----
return redis.acl_check_cmd('set','a','b')
----
return redis.acl_check_cmd('nosuch')
----
return redis.acl_check_cmd()
----
return redis.acl_check_cmd({})
----
return redis.REDIS_VERSION
----
return redis.REDIS_VERSION_NUM
----
return {redis.LOG_DEBUG,redis.LOG_VERBOSE,redis.LOG_NOTICE,redis.LOG_WARNING}
----
return {redis.REPL_ALL,redis.REPL_AOF,redis.REPL_SLAVE,redis.REPL_REPLICA,redis.REPL_NONE}
----
redis.setresp(3) return tostring(redis.call('get','nope'))
----
return tostring(redis.call('get','nope'))
----
return redis.call('mget','a','b')
----
error('x')
----
error('x',0)
----
error('x',2)
----
error()
----
error(nil)
----
error({err='E y'})
----
error({err='E y',foo=1})
----
error(42)
----
error(true)
----
local function f() error('deep') end f()
----
local function f() error('deep',2) end f()
----
return tostring(nil).x
----
local t t.x=1
----
local t={} t.x.y=1
----
local t={} return t.x.y
----
local t={} return t.a.b.c
----
local a={} a.b.c.d=1
----
x.y=1
----
return x.y
----
local s='x' return s.y.z
----
local s='x' s.y=1
----
return ('x').y.z
----
local t={} t[nil]=1
----
local t={} t[0/0]=1
----
local t={} return t[nil]
----
foo()
----
local f f()
----
local t={} t.f()
----
local t={} t:f()
----
local t={} t.x.f()
----
local t={} t[1]()
----
('x')()
----
(1)()
----
local a='x' a()
----
return #nil
----
return #5
----
local x return #x
----
local x=5 return #x
----
return -{}
----
return -'x'
----
return -'2'
----
local x={} return -x
----
return 1+{}
----
return 1+nil
----
return nil+1
----
return 'a'+1
----
return 'a'+'b'
----
return '10'+5
----
return '0x10'+0
----
return ' 10 '+0
----
return '1e1'+0
----
return '010'+0
----
return 10 .. 20
----
return 'a'..nil
----
return nil..'a'
----
return 'a'..{}
----
return 'a'..'b'..nil..'c'
----
local a,b='x' return a..b
----
local t={} return 'x'..t.y
----
return 1<'2'
----
return 'a'<1
----
return {}<{}
----
return nil<1
----
return {}<1
----
return nil<nil
----
return true<false
----
return print==nil
----
return 'a'<'b', 1<=2
----
return tostring('a'<'b')
----
return 2^10 ..''
----
return 7%3
----
return -7%3
----
return 7%-3
----
return -7%-3
----
return tostring(5.5%2)
----
return tostring(1%0)
----
return tostring(-1%(1/0))
----
return tostring(5%(1/0))
----
return tostring(2^0.5)
----
return tostring(2^-1)
----
return tostring(10/3)
----
return tostring(1e15)
----
return tostring(1e14)
----
return tostring(123456789012345)
----
return tostring(0.1)
----
return tostring(1/3)
----
return tostring(100)
----
return tostring(1e100)
----
return tostring(-1e-7)
----
return tostring(1e-5)
----
return tostring(0.0001)
----
return tostring(-0)
----
return tostring(0/0)
----
return tostring(-(0/0))
----
return tostring(1/0)
----
return tostring(-1/0)
----
return tostring(math.huge)
----
return tostring(2^63)
----
return tostring(3.14159265358979)
----
return tostring(true)..tostring(nil)
----
return tostring()
----
return tostring(cjson.null)
----
return tonumber('10')
----
return tonumber('0x1F')
----
return tonumber('  12  ')
----
return tonumber('1e2')
----
return tonumber('abc')
----
return tonumber('')
----
return tonumber(' ')
----
return tonumber('10',2)
----
return tonumber('ff',16)
----
return tonumber('zz',36)
----
return tonumber('8',8)
----
return tonumber('-ff',16)
----
return tonumber('0xff',16)
----
return tonumber('10',99)
----
return tonumber('10',1)
----
return tonumber()
----
return tonumber({})
----
return tonumber(nil)
----
return tonumber({},16)
----
return tostring(tonumber('inf'))
----
return tostring(tonumber('nan'))
----
return tostring(tonumber('-nan'))
----
return tostring(tonumber('infinity'))
----
return tostring(tonumber('0x'))
----
return tostring(tonumber('0x1p4'))
----
return tostring(tonumber('0x.8'))
----
return tostring(tonumber('1_000'))
----
return tostring(tonumber('1e'))
----
return tostring(tonumber('.5'))
----
return tostring(tonumber('5.'))
----
return tostring(tonumber('.'))
----
return tostring(tonumber('1e400'))
----
return tostring(tonumber('99999999999999999999'))
----
return tostring(tonumber('1 2'))
----
return tostring(tonumber('10\0'))
----
return tostring(tonumber('7fffffffffffffff',16))
----
return tostring(tonumber('ffffffffffffffffff',16))
----
return type(nil)
----
return type()
----
return type(print)
----
return type(cjson.null)
----
return {type(1),type('x'),type({}),type(type),type(nil),type(true)}
----
return assert(1)
----
return assert(false)
----
return assert(nil,'msg')
----
return assert(false,{})
----
return assert()
----
return assert(1,2,3)
----
return select('#')
----
return select('#',1,nil,nil)
----
return {select(2,'a','b','c')}
----
return {select(-1,'a','b','c')}
----
return select(0)
----
return select(-5,1)
----
return select()
----
return select('x')
----
return {unpack({1,2,3})}
----
return {unpack({1,2,3},2)}
----
return {unpack({1,2,3},2,3)}
----
return unpack()
----
return {unpack({},1,3)}
----
return #{unpack({},1,7000)}
----
return unpack({},1,1e8)
----
return unpack({},1,8000)
----
return unpack({},-1e9,1e9)
----
return unpack(1)
----
return next({})
----
return next({10})
----
return {next({10})}
----
return next({a=1})
----
return next({},1)
----
return next({},'x')
----
return next()
----
return next(nil)
----
return rawequal('a','a')
----
return rawequal('a')
----
return rawequal()
----
return rawget({5},1)
----
return rawget({5})
----
return rawget(1)
----
return rawset({},1,2)[1]
----
return rawset({},nil,2)
----
return rawset({},1)
----
rawset(_G,'x',1)
----
return rawlen
----
return pcall()
----
return {pcall(error)}
----
return {pcall(error,'x')}
----
return {pcall(error,'x',0)}
----
return {pcall(error,{1})}
----
return {pcall(function() return 1,2 end)}
----
return {tostring(pcall(nil))}
----
local ok,e=pcall(nil) return e
----
local ok,e=pcall(1) return e
----
local ok,e=pcall('x') return e
----
local ok,e=pcall(function() local a return a.b end) return e
----
local ok,e=pcall(function() error('x') end) return e
----
local ok,e=pcall(function() error() end) return tostring(e)
----
return {xpcall(function() return 1 end,function() end)}
----
local r={xpcall(function() error('x') end,function(m) return 'H:'..m end)} return tostring(r[1])..r[2]
----
local r={xpcall(function() error('x') end,function(m) error('y') end)} return tostring(r[1])..tostring(r[2])
----
local r={xpcall(function() error('x') end,1)} return tostring(r[1])..tostring(r[2])
----
local r={xpcall(function() local x=nil; x() end,function(m) return m end)} return r[2]
----
return xpcall()
----
return xpcall(1)
----
return {tostring(xpcall(1,2))}
----
local n=0 local r={xpcall(function() error('x') end,function(m) n=n+1 if n<3 then error('y') end return m end)} return {n,r[2]}
----
return loadstring('return 1')()
----
return loadstring('return')()
----
local f,e=loadstring('x = = 1') return e
----
local f,e=loadstring('x = = 1','name') return e
----
local f,e=loadstring('x = = 1','@name') return e
----
local f,e=loadstring('x = = 1','=name') return e
----
local f,e=loadstring('\n\nx = = 1') return e
----
local f,e=loadstring(string.rep('x',100)..' = = 1') return e
----
local f,e=loadstring('error("a")','@'..string.rep('n',100)) local ok,m=pcall(f) return m
----
local f,e=loadstring('error("a")','='..string.rep('n',100)) local ok,m=pcall(f) return m
----
local f,e=loadstring('error("a")') local ok,m=pcall(f) return m
----
local f,e=loadstring('error("a")\n--x') local ok,m=pcall(f) return m
----
local f,e=loadstring('\27Lua') return e
----
return loadstring()
----
return loadstring({})
----
local t={'return ','1','+2'} local i=0 return load(function() i=i+1 return t[i] end)()
----
local f,e=load(function() return {} end) return e
----
local f,e=load(function() error('x') end) return e
----
local f,e=load(function() return nil end) return type(f)
----
return load()
----
return load(1)
----
local f,e=load(function() return 'x y' end) return 1
----
return setmetatable({},{__index=function(t,k) return k..'!' end}).foo
----
return setmetatable({},{__index={a=5}}).a
----
return setmetatable({},{__call=function(self,a) return a+1 end})(5)
----
return tostring(setmetatable({},{__tostring=function() return 'T' end}))
----
return tostring(setmetatable({},{__tostring=function() return 5 end}))
----
return tostring(setmetatable({},{__tostring='x'}))
----
return #setmetatable({1},{__len=function() return 9 end})
----
return setmetatable({},{__add=function(a,b) return 'add' end})+1
----
return 1+setmetatable({},{__add=function(a,b) return 'add' end})
----
return setmetatable({},{__concat=function(a,b) return 'cat' end})..'x'
----
return 'x'..setmetatable({},{__concat=function(a,b) return 'cat' end})
----
return 'a'..'b'..setmetatable({},{__concat=function(a,b) return a..'cat' end})
----
return -setmetatable({},{__unm=function(a) return 'neg' end})
----
local m={__eq=function() return true end} return tostring(setmetatable({},m)==setmetatable({},m))
----
local m={__lt=function() return true end} return tostring(setmetatable({},m)<setmetatable({},m))
----
local m={__lt=function() return true end} return tostring(setmetatable({},m)<=setmetatable({},m))
----
local m={__le=function() return true end} return tostring(setmetatable({},m)<=setmetatable({},m))
----
local m={__lt=function() return true end} return tostring(setmetatable({},m)<1)
----
local t=setmetatable({},{__newindex=function(t,k,v) rawset(t,k,v*2) end}) t.x=5 return t.x
----
local t=setmetatable({},{__metatable='locked'}) return getmetatable(t)
----
local t=setmetatable({},{__metatable='locked'}) setmetatable(t,{})
----
return setmetatable(1,{})
----
return setmetatable({})
----
return setmetatable({},1)
----
return tostring(setmetatable({},nil)~=nil)
----
return getmetatable('').__index==string
----
return tostring(getmetatable('').__index==string)
----
return getmetatable()
----
return tostring(getmetatable({}))
----
return tostring(getmetatable(1))
----
local t={} setmetatable(t,{__index=t}) return t.x
----
local a={} for i=1,200 do a=setmetatable({},{__index=a}) end return a.x
----
local t=setmetatable({},{__index=function() error('idx') end}) return t.x
----
local t=setmetatable({},{__call=1}) return t()
----
x=1
----
_G.x=1
----
_G['KEYS']=1
----
return _G.x
----
return _G._G._VERSION
----
return _VERSION
----
return tostring(_G==_G._G)
----
setmetatable(_G,nil)
----
getmetatable(_G).__index=nil
----
string.rep=nil
----
table.x=1
----
math.pi=3
----
redis.call=nil
----
cjson.encode=nil
----
getmetatable('').__index=nil
----
KEYS=nil
----
ARGV[3]='x' return ARGV[3]
----
function f() end
----
local function f() end return 1
----
return dofile
----
return loadfile
----
return require
----
return io
----
return os
----
return debug
----
return getfenv
----
return setfenv
----
return newproxy
----
return module
----
return package
----
return print
----
return collectgarbage('collect')
----
return type(collectgarbage('count'))
----
return collectgarbage('step')
----
return collectgarbage('stop')
----
return collectgarbage('x')
----
return collectgarbage(1)
----
return {collectgarbage('setpause',100),collectgarbage('setpause',200)}
----
return {collectgarbage('setstepmul',100),collectgarbage('setstepmul',200)}
----
return type(gcinfo())
----
local co=coroutine.create(function(a,b) local c=coroutine.yield(a+b) return c*2 end) return {coroutine.resume(co,1,2)}
----
local co=coroutine.create(function(a,b) local c=coroutine.yield(a+b) return c*2 end) coroutine.resume(co,1,2) return {coroutine.resume(co,10)}
----
local co=coroutine.create(function() end) coroutine.resume(co) return {coroutine.resume(co)}
----
local co=coroutine.create(function() end) coroutine.resume(co) local _,e=coroutine.resume(co) return e
----
local co=coroutine.create(function() error('in co') end) local _,e=coroutine.resume(co) return e
----
local co=coroutine.create(function() error({1}) end) local _,e=coroutine.resume(co) return type(e)
----
local co co=coroutine.create(function() return coroutine.resume(co) end) local a,b,c=coroutine.resume(co) return {tostring(a),tostring(b),c}
----
local co co=coroutine.create(function() return coroutine.status(co) end) local a,b=coroutine.resume(co) return {b,coroutine.status(co)}
----
local co=coroutine.create(function() coroutine.yield() end) local s={coroutine.status(co)} coroutine.resume(co) s[2]=coroutine.status(co) coroutine.resume(co) s[3]=coroutine.status(co) return s
----
local co1,co2 co1=coroutine.create(function() coroutine.resume(co2) end) co2=coroutine.create(function() r=1 end) return 1
----
local s local co1 co1=coroutine.create(function() local co2=coroutine.create(function() s=coroutine.status(co1) end) coroutine.resume(co2) end) coroutine.resume(co1) return s
----
return coroutine.wrap(function() return 1 end)()
----
local f=coroutine.wrap(function() error('w') end) f()
----
local f=coroutine.wrap(function() error({err='w w'}) end) f()
----
local f=coroutine.wrap(function() end) f() f()
----
coroutine.yield(1)
----
return coroutine.create(1)
----
return coroutine.create()
----
return coroutine.create(type)
----
return coroutine.resume(1)
----
return coroutine.resume()
----
return coroutine.status(1)
----
return coroutine.wrap(1)
----
return tostring(coroutine.running())
----
return type(coroutine.wrap(function() return coroutine.running() end)())
----
local f=coroutine.wrap(function() pcall(coroutine.yield,1) end) return f()
----
local f=coroutine.wrap(function() return pcall(function() coroutine.yield(1) end) end) return {f()}
----
local f=coroutine.wrap(function() local ok,e=pcall(function() coroutine.yield(1) end) return e end) return f()
----
local f=coroutine.wrap(function() for k in (function() coroutine.yield(1) return nil end) do end return 5 end) return f()
----
local f=coroutine.wrap(function() table.sort({3,2,1},function(a,b) coroutine.yield(1) end) end) return f()
----
local t=setmetatable({},{__index=function(t,k) return coroutine.yield(k) end}) local f=coroutine.wrap(function() return t.x end) return f()
----
local f=coroutine.wrap(function(...) local a=... while true do a=coroutine.yield(a*2) end end) return {f(1),f(2),f(3)}
----
local function gen(n) return coroutine.wrap(function() for i=1,n do coroutine.yield(i) end end) end local t={} for i in gen(4) do t[#t+1]=i end return t
----
local f=coroutine.wrap(function() return redis.call('ping') end) return f()
----
local f=coroutine.wrap(function() return redis.call('nosuch') end) return f()
----
local function f() return f() end local co=coroutine.create(function() local function g() return 1+g() end g() end) local ok,e=coroutine.resume(co) return e
----
local function f() return 1+f() end return f()
----
local function f() return pcall(f) end return f()
----
local n=0 local function f() n=n+1 return pcall(f) end f() return n
----
local t={} t=setmetatable(t,{__index=function(t,k) return t[k..'x'] end}) return t.a
----
local s='return 1' for i=1,250 do s='do '..s..' end' end local f,e=loadstring(s) return e
----
local s='1' for i=1,250 do s='('..s..')' end local f,e=loadstring('return '..s) return e
----
local s='x' for i=1,300 do s=s..',x' end local f,e=loadstring(s..'=1') return e
----
local s='local a' for i=1,250 do s=s..',a'..i end local f,e=loadstring(s) return e
----
local s='' for i=1,250 do s=s..'local a'..i..'=1 ' end local f,e=loadstring(s) return e
----
local s='' for i=1,100 do s=s..'local a'..i..'=1 ' end s=s..'return function() return a1' for i=2,100 do s=s..'+a'..i end local f,e=loadstring(s..' end') return e
----
local s='return f(' for i=1,260 do s=s..i..',' end local f,e=loadstring(s..'1)') return e
----
local t={} for i=1,30000 do t[i]=i end return #loadstring('return {'..table.concat(t,',')..'}')()
----
return redis.call('debug','protocol','string')
----
redis.call('hset','h','f','v') return redis.call('hgetall','h')
----
redis.setresp(3) redis.call('hset','h','f','v') return redis.call('hgetall','h')
----
redis.setresp(3) redis.call('hset','h','f','v') return cjson.encode(redis.call('hgetall','h'))
----
redis.call('hset','h','f','v') return cjson.encode(redis.call('hgetall','h'))
----
redis.setresp(3) return redis.call('hgetall','nope')
----
redis.setresp(3) return redis.call('smembers','nope')
----
redis.setresp(3) redis.call('sadd','s','a','b') return redis.call('smembers','s')
----
redis.setresp(3) redis.call('sadd','s','a','b') return cjson.encode(redis.call('smembers','s'))
----
redis.setresp(3) redis.call('zadd','z','3.25','m') return redis.call('zscore','z','m')
----
redis.setresp(3) redis.call('zadd','z','3.25','m') return cjson.encode(redis.call('zscore','z','m'))
----
redis.call('zadd','z','3.25','m') return redis.call('zscore','z','m')
----
redis.setresp(3) return tostring(redis.call('zscore','z','m'))
----
return {pcall(error,{err='x'})}
----
return select('#',pcall(error,{1}))
----
return select('#',pcall(error,{err='x'}))
----
return string.format('%d %5d %-5d| %05d %+d % d', 1, 2, 3, 4, 5, 6)
----
return string.format('%d', 3.7)
----
return string.format('%d', -3.7)
----
return string.format('%d', '10')
----
return string.format('%d', 'x')
----
return string.format('%d')
----
return string.format('%d', 2^53)
----
return string.format('%d', 2^63)
----
return string.format('%d', 1/0)
----
return string.format('%u', -1)
----
return string.format('%u', 2^63)
----
return string.format('%x %X %#x %o %#o', 255, 255, 255, 8, 8)
----
return string.format('%x', -1)
----
return string.format('%x', 0.5)
----
return string.format('%5.3d|%-8.3d|%08.3d', 7, 7, 7)
----
return string.format('%.0d|%.0x', 0, 0)
----
return string.format('%c%c', 72, 105)
----
return string.format('%c', 0)
----
return string.format('%5c|%-5c|', 65, 66)
----
return string.format('%e %E', 12345.678, 0.00012)
----
return string.format('%f %.2f %10.3f|%-10.1f|', 1.5, 2.345, 3.14159, 2.5)
----
return string.format('%.0f %.0f %.0f', 0.5, 1.5, 2.5)
----
return string.format('%#.0f %#g %g', 3, 3, 3)
----
return string.format('%g %g %g %g', 1e20, 1e-5, 100000, 1000000)
----
return string.format('%.3g %.10g %.17g %.20g', 1/3, 1/3, 0.1, 0.1)
----
return string.format('%.99f', 1/3)
----
return string.format('%f', 1e300)
----
return string.format('%G', 1e-10)
----
return string.format('%a', 1)
----
return string.format('%f %f %f', 1/0, -1/0, 0/0)
----
return string.format('%5.1f|%+.1f|% .1f|%05.1f', 1/0, 1/0, 1/0, 1/0)
----
return string.format('%d %s', 1)
----
return string.format('%s %s', 1, 'x')
----
return string.format('%s', nil)
----
return string.format('%s', {})
----
return string.format('%s', true)
----
return string.format('%10s|%-10s|%.2s', 'abc', 'abc', 'abc')
----
return string.format('%s', 'a\0b')
----
return string.format('%q', 'a\n"b"\\\r\0\t')
----
return string.format('%q', 1)
----
return string.format('%i', 42)
----
return string.format('%%')
----
return string.format('%5%')
----
return string.format('%')
----
return string.format('%y', 1)
----
return string.format('%ld', 1)
----
return string.format('%123d', 1)
----
return string.format('%.123d', 1)
----
return string.format('%-+ #0d', 1)
----
return string.format('%-+ #0-d', 1)
----
return string.format('%------d', 1)
----
return string.format()
----
return string.format(1)
----
return string.format({})
----
return string.format('%s', string.rep('x', 200)):len()
----
return string.format('%5s', string.rep('x', 200)):len()
----
return string.format('%.5s', string.rep('x', 200))
----
return string.format('%099d', 1)
----
return string.len('abc')
----
return string.len(123)
----
return string.len()
----
return string.len({})
----
return ('x'):len()
----
return ('abc'):upper()
----
return ('ABC'):lower()
----
return ('\224\225x'):upper()
----
return string.rep('ab', 3)
----
return string.rep('ab', 0)
----
return string.rep('ab', -1)
----
return string.rep('', 1e6)
----
return string.rep()
----
return string.rep('x')
----
return string.rep('x', 'y')
----
return string.rep('x', '3')
----
return string.reverse('hello')
----
return string.reverse(12)
----
return string.sub('hello', 2, 4)
----
return string.sub('hello', -3)
----
return string.sub('hello', -3, -2)
----
return string.sub('hello', 0)
----
return string.sub('hello', 10)
----
return string.sub('hello', 2, 100)
----
return string.sub('hello', 3, 2)
----
return string.sub('hello')
----
return string.sub('hello', 2.7)
----
return string.sub('hello', '2', '3')
----
return string.sub('hello', 1e100)
----
return string.sub('hello', -1e100, 1e100)
----
return ('hello'):sub(2)
----
return ('hello'):sub({})
----
return ('hello').sub()
----
return {string.byte('abc', 1, 3)}
----
return string.byte('abc')
----
return string.byte('abc', 10)
----
return {string.byte('abc', -1)}
----
return string.byte('')
----
return string.byte()
----
return #{string.byte(string.rep('x', 7000), 1, -1)}
----
return string.byte(string.rep('x', 9000), 1, -1)
----
return string.char(72, 105)
----
return string.char()
----
return string.char(256)
----
return string.char(-1)
----
return string.char('x')
----
return string.char('65')
----
return string.char({})
----
return string.dump(function() end)
----
return string.dump(print)
----
return string.dump(1)
----
return {string.find('hello', 'l')}
----
return {string.find('hello', 'xyz')}
----
return {string.find('hello', '')}
----
return {string.find('hello', '', 10)}
----
return {string.find('', '')}
----
return {string.find('hello', 'l', 4)}
----
return {string.find('hello', 'l', -2)}
----
return {string.find('hello', 'l', 100)}
----
return {string.find('a.b', '.', 1, true)}
----
return {string.find('a.b', '%.')}
----
return {string.find('hello world', '(o)( )(w)')}
----
return {string.find('hello', '()ll()')}
----
return {string.find('hello', '^h')}
----
return {string.find('hello', '^e')}
----
return {string.find('hello', 'o$')}
----
return {string.find('hello', 'l$')}
----
return {string.find('a$b', '$b')}
----
return {string.find('hello', '[a-f]')}
----
return {string.find('hello', '[^a-h]')}
----
return {string.find('he]lo', '[]]')}
----
return {string.find('he-lo', '[a-]')}
----
return {string.find('he^lo', '[x^]')}
----
return {string.find('abc123', '%d+')}
----
return {string.find('  x', '%S')}
----
return {string.find('key = value', '(%w+)%s*=%s*(%w+)')}
----
return {string.find('THE (quick) fox', '%((%a+)%)')}
----
return {string.find('f(a(b)c)d', '%b()')}
----
return {string.find('THE (quick) fox', '%f[%a]%a+', 2)}
----
return {string.find('abcabc', '(a)(b)(c)%1%2%3')}
----
return {string.find('aXb', 'a%ub')}
----
return {string.find('x\0y', '%z')}
----
return {string.find('x\0y', '\0')}
----
return {string.find('aaa', 'a-')}
----
return {string.find('aaab', 'a-b')}
----
return {string.find('aaa', 'a*')}
----
return {string.find('aaa', 'a+?')}
----
return {string.find('ab', 'a?b?c?')}
----
return string.find('x', '[')
----
return string.find('x', '[a')
----
return string.find('x', '[]')
----
return string.find('x', '[^')
----
return string.find('x', '%')
----
return string.find('x', '(')
----
return string.find('x', ')')
----
return string.find('x', '(()')
----
return string.find('x', '%1')
----
return string.find('x', '(x)%2')
----
return string.find('x', '(x%1)')
----
return string.find('x', '%b')
----
return string.find('x', '%bx')
----
return string.find('x', '%f')
----
return string.find('x', '%fx')
----
return string.find('x', '[%')
----
return string.find('x', '[%a')
----
return string.find('x', '[a-%')
----
return string.find('x', '%g')
----
return {string.find('[x-z]', '[%[-x]')}
----
return string.find()
----
return string.find('x')
----
return string.find('x', {})
----
return string.find({}, 'x')
----
return string.find('x', 'x', 'y')
----
return string.find(string.rep('a', 40), string.rep('(a)', 33))
----
return string.find(string.rep('a', 20), string.rep('a?', 20)..string.rep('a', 20))
----
return string.match('hello 123', '%d+')
----
return string.match('hello', 'xyz')
----
return {string.match('key=val', '(%w+)=(%w+)')}
----
return {string.match('  trim  ', '^%s*(.-)%s*$')}
----
return {string.match('2024-01-15', '(%d+)-(%d+)-(%d+)')}
----
return string.match('x', '()')
----
return string.match('hello', '.-')
----
return string.match('hello', 'l', 4)
----
return {string.gsub('hello', 'l', 'L')}
----
return {string.gsub('hello', 'l', 'L', 1)}
----
return {string.gsub('hello', 'l', 'L', 0)}
----
return {string.gsub('hello', 'l', 'L', -1)}
----
return {string.gsub('hello', '', '-')}
----
return {string.gsub('hello', '.', {h='H', e=false, l=1})}
----
return {string.gsub('hello', '.', function(c) if c=='l' then return 'L' end end)}
----
return {string.gsub('hello', '(h)(e)', '%2%1')}
----
return {string.gsub('hello', 'l', '%0%0')}
----
return {string.gsub('hello', 'l', '%%')}
----
return {string.gsub('hello', 'l', '%1')}
----
return {string.gsub('hello', 'l', '%2')}
----
return {string.gsub('hello', '(l)', '%2')}
----
return {string.gsub('hello', 'l', '%')}
----
return {string.gsub('hello', 'l', '%x')}
----
return {string.gsub('abc', '%w', '%0-%0')}
----
return {string.gsub('abc', '^a', 'x')}
----
return {string.gsub('aaa', '^a', 'x')}
----
return {string.gsub('hello world', '%w+', string.upper)}
----
return {string.gsub('$name is $age', '%$(%w+)', {name='Bob', age=42})}
----
return {string.gsub('abc', '', '')}
----
return {string.gsub('', '', 'x')}
----
return {string.gsub('abc', 'b*', 'x')}
----
return {string.gsub('hello', 'l', function() return {} end)}
----
return {string.gsub('hello', 'l', {l={}})}
----
return {string.gsub('hello', 'l', true)}
----
return {string.gsub('hello', 'l', nil)}
----
return {string.gsub('hello', 'l')}
----
return {string.gsub('hello')}
----
return {string.gsub('hello', 'l', 5)}
----
return {string.gsub('hello', '(', 'x')}
----
return {string.gsub('a,b,,c', ',', ';')}
----
return {string.gsub('abc', '(a)(b)(c)', function(...) return select('#',...) end)}
----
return {string.gsub('abc', '()', function(p) return p end)}
----
return {string.gsub('hello', 'l', setmetatable({}, {__index=function(t,k) return k:upper() end}))}
----
return {string.gsub('hello', 'l', function() error('in gsub') end)}
----
local t={} for w in string.gmatch('one two three', '%a+') do t[#t+1]=w end return t
----
local t={} for k,v in string.gmatch('a=1, b=2', '(%w+)=(%w+)') do t[#t+1]=k..v end return t
----
local t={} for p in string.gmatch('abc', '()') do t[#t+1]=p end return t
----
local t={} for w in string.gmatch('abc', '') do t[#t+1]='<'..w..'>' end return t
----
local t={} for w in string.gmatch('aaa', '^a') do t[#t+1]=w end return t
----
local t={} for w in ('a b'):gmatch('%S') do t[#t+1]=w end return t
----
return string.gmatch('x')
----
return string.gmatch()
----
return tostring(string.gfind==string.gmatch)
----
for w in string.gmatch('x', '[') do end
----
return table.concat({1,2,3}, ', ')
----
return table.concat({1,2,3})
----
return table.concat({})
----
return table.concat({}, 'x')
----
return table.concat({1,2,3}, ',', 2)
----
return table.concat({1,2,3}, ',', 2, 3)
----
return table.concat({1,2,3}, ',', 3, 2)
----
return table.concat({1,2,3}, ',', 1, 5)
----
return table.concat({1,{},3})
----
return table.concat({1,true,3})
----
return table.concat({'a',1.5,'b'}, '-')
----
return table.concat(1)
----
return table.concat({}, {})
----
return table.concat({1,2}, 1)
----
return table.concat()
----
local t={1,2,3} table.insert(t,4) return t
----
local t={1,2,3} table.insert(t,1,0) return t
----
local t={1,2,3} table.insert(t,10,'x') return {#t, t[10]}
----
local t={1,2,3} table.insert(t,-1,'x') return {t[-1], #t}
----
local t={} table.insert(t,1,'a') table.insert(t,1,'b') return t
----
table.insert({},1,2,3)
----
table.insert({})
----
table.insert()
----
table.insert(1,2)
----
table.insert({},'x',1)
----
local t={1,2,3} return {table.remove(t), #t}
----
local t={1,2,3} return {table.remove(t,1), t[1], t[2], #t}
----
local t={1,2,3} return {tostring(table.remove(t,10)), #t}
----
local t={} return tostring(table.remove(t))
----
local t={1,2,3} return {tostring(table.remove(t,0)), #t}
----
return table.remove()
----
return table.remove({}, 'x')
----
local t={3,1,2} table.sort(t) return t
----
local t={'b','a','c'} table.sort(t) return t
----
local t={3,1,2} table.sort(t, function(a,b) return a>b end) return t
----
local t={3,'x',2} table.sort(t) return t
----
local t={{},{}} table.sort(t) return t
----
local t={1,2,3,4,5} table.sort(t, function(a,b) return true end) return t
----
local t={1,2,3,4,5,6,7,8,9,10} table.sort(t, function(a,b) return true end) return t
----
local t={5,3,8,1,9,2,7} table.sort(t, function(a,b) return a<=b end) return t
----
local t={3,2,1} table.sort(t, 1) return t
----
table.sort({3,2,1}, function(a,b) error('in sort') end)
----
table.sort(1)
----
table.sort()
----
local t={} for i=1,100 do t[i]=(i*37)%101 end table.sort(t) return t
----
return table.getn({1,2,3})
----
return table.getn()
----
return table.setn({},1)
----
return table.maxn({1,2,3,nil,5})
----
return table.maxn({[10.5]=1, [3]=2})
----
return table.maxn({})
----
return table.maxn({[-5]=1})
----
return table.maxn()
----
local r={} table.foreach({a=1}, function(k,v) r[#r+1]=k..v end) return r
----
return table.foreach({1,2,3}, function(k,v) if v==2 then return 'found' end end)
----
local r={} table.foreachi({5,6}, function(i,v) r[#r+1]=i..':'..v end) return r
----
return table.foreachi({5,6}, function(i,v) return v end)
----
table.foreach({1}, 1)
----
table.foreachi({1})
----
return tostring(table.unpack)
----
return tostring(table.pack)
----
return math.floor(3.7)..math.floor(-3.7)..math.ceil(3.2)..math.ceil(-3.2)
----
return math.abs(-5)
----
return tostring(math.abs(-0))
----
return math.max(1,5,3)
----
return math.min(1,5,3)
----
return math.max()
----
return math.min('x')
----
return math.max(1,'2')
----
return math.max(1,{})
----
return tostring(math.sqrt(2))
----
return tostring(math.sqrt(-1))
----
return tostring(math.sin(1))..tostring(math.cos(1))..tostring(math.tan(1))
----
return tostring(math.asin(1))..tostring(math.acos(0))..tostring(math.atan(1))
----
return tostring(math.asin(2))
----
return tostring(math.acos(2))
----
return tostring(math.atan2(1,2))
----
return tostring(math.sinh(1))..tostring(math.cosh(1))..tostring(math.tanh(1))
----
return tostring(math.exp(1))..tostring(math.log(10))..tostring(math.log10(1000))
----
return tostring(math.log(-1))
----
return tostring(math.log(0))
----
return tostring(math.log10(0))
----
return tostring(math.log10(-1))
----
return tostring(math.log10(2))
----
return tostring(math.pow(2,10))..tostring(math.pow(2,0.5))
----
return tostring(math.pow(-8,1/3))
----
return tostring((-8)^(1/3))
----
return tostring(math.fmod(7,3))..tostring(math.fmod(-7,3))
----
return tostring(math.fmod(1,0))
----
return tostring(math.fmod(-1,0))
----
return tostring(math.fmod(1/0,2))
----
return tostring(math.mod==math.fmod)
----
local a,b=math.modf(3.7) return tostring(a)..' '..tostring(b)
----
local a,b=math.modf(-3.7) return tostring(a)..' '..tostring(b)
----
local a,b=math.modf(1/0) return tostring(a)..' '..tostring(b)
----
local a,b=math.modf(-1/0) return tostring(a)..' '..tostring(b)
----
local a,b=math.modf(0/0) return tostring(a)..' '..tostring(b)
----
local a,b=math.modf(5) return tostring(a)..' '..tostring(b)
----
local a,b=math.modf(-0.5) return tostring(a)..' '..tostring(b)
----
local a,b=math.frexp(10) return tostring(a)..' '..tostring(b)
----
local a,b=math.frexp(0) return tostring(a)..' '..tostring(b)
----
local a,b=math.frexp(1/0) return tostring(a)..' '..tostring(b)
----
return math.ldexp(0.5,4)
----
return math.ldexp(1,1e10)
----
return tostring(math.deg(math.pi))..tostring(math.rad(180))
----
return tostring(math.pi)..tostring(math.huge)
----
return math.floor('3.7')
----
return math.floor({})
----
return math.floor()
----
return math.floor(nil)
----
return tostring(math.floor(1/0))
----
return tostring(math.floor(0/0))
----
local t={} for i=1,10 do t[i]=tostring(math.random()) end return t
----
local t={} for i=1,10 do t[i]=math.random(100) end return t
----
local t={} for i=1,10 do t[i]=math.random(5,10) end return t
----
math.randomseed(42) local t={} for i=1,5 do t[i]=math.random(1000) end return t
----
math.randomseed(-1) local t={} for i=1,5 do t[i]=math.random(1000) end return t
----
math.randomseed(2^40+7) local t={} for i=1,5 do t[i]=math.random(1000) end return t
----
math.randomseed('12') return math.random(1000)
----
math.randomseed()
----
math.randomseed({})
----
return math.random(0)
----
return math.random(2,1)
----
return math.random(1,2,3)
----
return math.random('x')
----
return math.random(-10,-5)
----
return math.random(2^31-1)
----
return math.random(-2^31,2^31-1)
----
return math.random(1.9)
----
return tostring(5%3.5)..tostring(-5%3.5)
----
return tostring(2^1000)..tostring(2^-1000)
----
return tostring(2^0.5*2^0.5==2)
----
return tostring(0.1+0.2)..tostring(0.1+0.2==0.3)
----
return tostring(1e308*10)..tostring(-1e308*10)
----
return string.format('%.17g', 2^0.1)
----
return string.format('%.17g', math.exp(0.7))
----
return string.format('%.17g', math.sin(100))
----
return string.format('%.17g', math.log(3))
----
return string.format('%.17g', 10^-5)
----
return string.format('%.17g', 1.1^20)
----
return cjson.encode(1)
----
return cjson.encode(1.5)
----
return cjson.encode(1e20)
----
return cjson.encode(1/3)
----
return cjson.encode(-0)
----
return cjson.encode('x')
----
return cjson.encode('a"b\\c/d\n\r\t\b\f\1\127\200')
----
return cjson.encode(true)
----
return cjson.encode(nil)
----
return cjson.encode(cjson.null)
----
return cjson.encode({})
----
return cjson.encode({1,2,3})
----
return cjson.encode({1,nil,3})
----
return cjson.encode({[1]=1,[2]=2,[4]=4})
----
return cjson.encode({[1]=1,[100]=2})
----
return cjson.encode({[100]=2})
----
return cjson.encode({[5]=2})
----
return cjson.encode({[0]=1})
----
return cjson.encode({[-1]=1})
----
return cjson.encode({[1.5]=1})
----
return cjson.encode({a=1})
----
return cjson.encode({a=1,b=2,c=3,d=4,e=5})
----
return cjson.encode({name='x',id=1,tags={'a','b'},nested={x={y={z=1}}}})
----
return cjson.encode({1,2,a=3})
----
return cjson.encode({[true]=1})
----
return cjson.encode({[{}]=1})
----
return cjson.encode(print)
----
return cjson.encode({f=print})
----
return cjson.encode(coroutine.create(function() end))
----
return cjson.encode(1/0)
----
return cjson.encode(0/0)
----
return cjson.encode({1/0})
----
return cjson.encode()
----
return cjson.encode(1,2)
----
local t={} t.t=t return cjson.encode(t)
----
local t={} for i=1,1001 do t={t} end return cjson.encode(t)
----
local t={} for i=1,999 do t={t} end return #cjson.encode(t)
----
return cjson.encode({{},{{}},{a={}}})
----
return cjson.encode({['1']='a',['2']='b'})
----
return cjson.encode({['']=1})
----
return cjson.encode(123456789012345)
----
return cjson.encode(12345678901234567890)
----
return cjson.encode(0.1)
----
return cjson.encode(100)
----
return cjson.encode('\240\159\152\128')
----
return cjson.encode({true,false,cjson.null})
----
return cjson.decode('1')
----
return cjson.decode('"x"')
----
return tostring(cjson.decode('null'))
----
return tostring(cjson.decode('null')==cjson.null)
----
return cjson.decode('true')
----
return cjson.decode('[1,2,3]')
----
return cjson.decode('{"a":1}').a
----
return cjson.decode(' [ 1 , 2 ] ')
----
return cjson.decode('{"a":{"b":[1,{"c":"d"}]}}').a.b[2].c
----
return cjson.decode('"\\u0041\\u00e9\\u4e2d\\ud83d\\ude00"')
----
return cjson.decode('"\\n\\t\\r\\b\\f\\/\\\\\\""')
----
return cjson.decode('"\\ud83d"')
----
return cjson.decode('"\\ude00"')
----
return cjson.decode('"\\ud83dx"')
----
return cjson.decode('"\\ud83d\\u0041"')
----
return cjson.decode('"\\u00"')
----
return cjson.decode('"\\uxxxx"')
----
return cjson.decode('"\\x"')
----
return cjson.decode('"\\')
----
return cjson.decode('"abc')
----
return cjson.decode('')
----
return cjson.decode(' ')
----
return cjson.decode('{')
----
return cjson.decode('[')
----
return cjson.decode('[1')
----
return cjson.decode('[1,')
----
return cjson.decode('[1,]')
----
return cjson.decode('[,1]')
----
return cjson.decode('{"a"}')
----
return cjson.decode('{"a":}')
----
return cjson.decode('{"a":1,}')
----
return cjson.decode('{"a":1')
----
return cjson.decode('{a:1}')
----
return cjson.decode('{1:1}')
----
return cjson.decode('[1 2]')
----
return cjson.decode('{"a":1 "b":2}')
----
return cjson.decode('1 2')
----
return cjson.decode('nul')
----
return cjson.decode('tru')
----
return cjson.decode('falsy')
----
return cjson.decode('x')
----
return cjson.decode("'a'")
----
return cjson.decode('-')
----
return cjson.decode('-x')
----
return cjson.decode('+1')
----
return tostring(cjson.decode('01'))
----
return tostring(cjson.decode('0x10'))
----
return tostring(cjson.decode('1e5'))
----
return tostring(cjson.decode('1.5e-3'))
----
return tostring(cjson.decode('1e'))
----
return tostring(cjson.decode('1.'))
----
return tostring(cjson.decode('.5'))
----
return tostring(cjson.decode('-0'))
----
return tostring(cjson.decode('1e400'))
----
return tostring(cjson.decode('inf'))
----
return tostring(cjson.decode('-inf'))
----
return tostring(cjson.decode('Infinity'))
----
return tostring(cjson.decode('nan'))
----
return tostring(cjson.decode('-nan'))
----
return tostring(cjson.decode('NaN'))
----
return tostring(cjson.decode('infx'))
----
return tostring(cjson.decode('123456789012345678'))
----
return cjson.decode()
----
return cjson.decode('1','2')
----
return cjson.decode({})
----
return cjson.decode(nil)
----
return cjson.decode(123)
----
return cjson.decode('[1]\0x')
----
return cjson.decode('\0[1]')
----
return cjson.decode('"a\0b"')
----
return #cjson.decode('[null,null]')
----
return tostring(cjson.decode('[1,null,3]')[2])
----
return cjson.decode(string.rep('[',1001)..string.rep(']',1001))
----
return #cjson.decode(string.rep('[',1000)..string.rep(']',1000))
----
return cjson.encode(cjson.decode('{"b":1,"a":2,"c":[],"d":{}}'))
----
return cjson.encode(cjson.decode('{"id":1,"name":"x","type":"y","value":[1,2],"meta":{"k":"v","k2":"v2"}}'))
----
return cjson.decode('{"a":1,"a":2}').a
----
return {cjson.encode_sparse_array()}
----
return {cjson.encode_sparse_array(true)}
----
return cjson.encode({[1]=1,[100]=2})
----
return {cjson.encode_sparse_array(false,2,10)}
----
return cjson.encode_sparse_array('x')
----
return cjson.encode_sparse_array(1)
----
return cjson.encode_sparse_array(true,-1)
----
return cjson.encode_sparse_array(true,1,2,3)
----
return cjson.encode_sparse_array('on',0,0)
----
return cjson.encode({[1]=1,[100]=2}):len()
----
return {cjson.encode_sparse_array(false,2,10)}
----
return cjson.encode_max_depth()
----
return cjson.encode_max_depth(2)
----
return cjson.encode({{{1}}})
----
return cjson.encode_max_depth(1000)
----
return cjson.encode_max_depth(0)
----
return cjson.encode_max_depth('x')
----
return cjson.encode_max_depth(1,2)
----
return cjson.decode_max_depth(2)
----
return cjson.decode('[[[1]]]')
----
return cjson.decode_max_depth(1000)
----
return cjson.encode_number_precision()
----
return cjson.encode_number_precision(3)
----
return cjson.encode(1/3)
----
return cjson.encode_number_precision(14)
----
return cjson.encode_number_precision(15)
----
return cjson.encode_number_precision(0)
----
return cjson.encode_keep_buffer()
----
return cjson.encode_keep_buffer(false)
----
return cjson.encode_keep_buffer(true)
----
return cjson.encode_invalid_numbers()
----
return cjson.encode_invalid_numbers(true)
----
return cjson.encode({1/0,-1/0,0/0})
----
return cjson.encode_invalid_numbers('null')
----
return cjson.encode({1/0,-1/0,0/0})
----
return cjson.encode_invalid_numbers('off')
----
return cjson.encode_invalid_numbers('bogus')
----
return cjson.encode_invalid_numbers({})
----
return cjson.decode_invalid_numbers()
----
return cjson.decode_invalid_numbers(false)
----
return cjson.decode('nan')
----
return cjson.decode('0x10')
----
return cjson.decode('-inf')
----
return cjson.decode('01')
----
return cjson.decode('1e5')
----
return cjson.decode_invalid_numbers(true)
----
return cjson.decode_invalid_numbers('on')
----
local c=cjson.new() c.encode_max_depth(1) local ok,e=pcall(c.encode,{{}}) return {tostring(ok),e,cjson.encode({{}})}
----
return {cjson._NAME,cjson._VERSION,tostring(cjson.null)}
----
return cmsgpack.pack(1)
----
return cmsgpack.pack(127)..cmsgpack.pack(128)..cmsgpack.pack(255)..cmsgpack.pack(256)..cmsgpack.pack(65535)..cmsgpack.pack(65536)..cmsgpack.pack(2^32-1)..cmsgpack.pack(2^32)..cmsgpack.pack(2^53)
----
return cmsgpack.pack(-1)..cmsgpack.pack(-32)..cmsgpack.pack(-33)..cmsgpack.pack(-128)..cmsgpack.pack(-129)..cmsgpack.pack(-32768)..cmsgpack.pack(-32769)..cmsgpack.pack(-2^31)..cmsgpack.pack(-2^31-1)..cmsgpack.pack(-2^63)
----
return cmsgpack.pack(1.5)..cmsgpack.pack(0.1)..cmsgpack.pack(1/0)..cmsgpack.pack(2^63)..cmsgpack.pack(2^64)..cmsgpack.pack(1e300)
----
return cmsgpack.pack(0/0)
----
return cmsgpack.pack(-0)
----
return cmsgpack.pack('x')..cmsgpack.pack('')..cmsgpack.pack(string.rep('a',31))..cmsgpack.pack(string.rep('a',32))
----
return cmsgpack.pack(string.rep('a',255)):sub(1,3)..cmsgpack.pack(string.rep('a',256)):sub(1,4)..cmsgpack.pack(string.rep('a',65536)):sub(1,6)
----
return cmsgpack.pack(true)..cmsgpack.pack(false)..cmsgpack.pack(nil)..cmsgpack.pack(cjson.null)..cmsgpack.pack(print)
----
return cmsgpack.pack({})
----
return cmsgpack.pack({1,2,3})
----
return cmsgpack.pack({1,nil,3})
----
return cmsgpack.pack({a=1})
----
return cmsgpack.pack({a=1,b=2,c=3})
----
return cmsgpack.pack({1,2,a=3})
----
return cmsgpack.pack({[1.5]=1})
----
return cmsgpack.pack({[0]=1})
----
return cmsgpack.pack({[-1]=1})
----
return cmsgpack.pack({[2^40]=1})
----
return cmsgpack.pack({[true]=false})
----
return cmsgpack.pack({[{}]=1}):len()
----
return cmsgpack.pack(1,2,3)
----
return cmsgpack.pack(1,nil,'x',{})
----
return cmsgpack.pack()
----
local t={} for i=1,16 do t[i]=i end return cmsgpack.pack(t)
----
local t={} for i=1,16 do t['k'..i]=i end return cmsgpack.pack(t)
----
local t={} for i=1,70000 do t[i]=1 end return cmsgpack.pack(t):sub(1,8)
----
local t={} t.t=t return cmsgpack.pack(t)
----
local t={1} for i=1,20 do t={t} end return cmsgpack.pack(t)
----
return {cmsgpack.unpack(cmsgpack.pack(1,2,'x'))}
----
return cmsgpack.unpack(cmsgpack.pack({1,{2,{3}}}))
----
return cmsgpack.unpack(cmsgpack.pack({a={b='c'}})).a.b
----
return cjson.encode(cmsgpack.unpack(cmsgpack.pack({a=1,b={1,2},c='x',d=true})))
----
return tostring(cmsgpack.unpack('\192'))
----
return cmsgpack.unpack('\204\200')
----
return cmsgpack.unpack('\205\1\0')
----
return cmsgpack.unpack('\206\1\0\0\0')
----
return tostring(cmsgpack.unpack('\207\255\255\255\255\255\255\255\255'))
----
return cmsgpack.unpack('\208\200')
----
return cmsgpack.unpack('\209\200\0')
----
return cmsgpack.unpack('\210\200\0\0\0')
----
return tostring(cmsgpack.unpack('\211\200\0\0\0\0\0\0\0'))
----
return tostring(cmsgpack.unpack('\202\63\128\0\0'))
----
return tostring(cmsgpack.unpack('\203\63\240\0\0\0\0\0\0'))
----
return cmsgpack.unpack('\217\3abc')
----
return cmsgpack.unpack('\218\0\3abc')
----
return cmsgpack.unpack('\219\0\0\0\3abc')
----
return cmsgpack.unpack('\220\0\2\1\2')
----
return cmsgpack.unpack('\221\0\0\0\2\1\2')
----
return cmsgpack.unpack('\222\0\1\161a\2').a
----
return cmsgpack.unpack('\223\0\0\0\1\161a\2').a
----
return cmsgpack.unpack('\224')
----
return cmsgpack.unpack('')
----
return cmsgpack.unpack('\193')
----
return cmsgpack.unpack('\196\1x')
----
return cmsgpack.unpack('\204')
----
return cmsgpack.unpack('\217\5abc')
----
return cmsgpack.unpack('\219\255\255\255\255a')
----
return cmsgpack.unpack('\147\1\2')
----
return cmsgpack.unpack('\221\255\255\255\255\1')
----
return cmsgpack.unpack('\129\1')
----
return cmsgpack.unpack('\129\192\1')
----
return cmsgpack.unpack('\129\203\255\248\0\0\0\0\0\0\1')
----
return cmsgpack.unpack('\146\1\193')
----
return cmsgpack.unpack()
----
return cmsgpack.unpack({})
----
return cmsgpack.unpack(1)
----
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3))}
----
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),1)}
----
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),2)}
----
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),3)}
----
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),4)}
----
return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),-1)}
----
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),2)}
----
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),2,1)}
----
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),0)}
----
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),0,1)}
----
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),-1)}
----
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3))}
----
return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),10)}
----
return {cmsgpack.unpack_limit('',1)}
----
return #{cmsgpack.unpack(string.rep('\1',7900))}
----
return cmsgpack.unpack(string.rep('\1',9000))
----
return cmsgpack.unpack(string.rep('\145',5000))
----
return {cmsgpack._NAME,cmsgpack._VERSION,cmsgpack._COPYRIGHT,cmsgpack._DESCRIPTION}
----
return struct.pack('b',1)..struct.pack('B',255)..struct.pack('h',-2)..struct.pack('H',65535)
----
return struct.pack('>I4',1)..struct.pack('<I4',1)..struct.pack('>i2',-2)
----
return struct.pack('l',-1)..struct.pack('L',2^53)..struct.pack('T',5)
----
return struct.pack('i3',-5)..struct.pack('>i3',-5)..struct.pack('I8',2^63)..struct.pack('i16',-1)
----
return struct.pack('f',1.5)..struct.pack('d',0.1)..struct.pack('>f',1.5)..struct.pack('>d',0.1)
----
return struct.pack('s','hello')..struct.pack('c3','hello')..struct.pack('c0','hello')..struct.pack('c','hello')
----
return struct.pack('!4bi',1,2)..struct.pack('!8bd',1,2)..struct.pack('!bhil',1,2,3,4)
----
return struct.pack('bxh',1,2)..struct.pack('b h',1,2)
----
return struct.pack('c10','hello')
----
return struct.pack('i')
----
return struct.pack('i','x')
----
return struct.pack('s',1)
----
return struct.pack('s',{})
----
return struct.pack('z',1)
----
return struct.pack('i33',1)
----
return struct.pack('i99999999999',1)
----
return struct.pack('!3i',1)
----
return struct.pack('!0i',1)
----
return struct.pack()
----
return struct.pack('')
----
return struct.pack('i0',5)
----
return struct.pack('B',300)..struct.pack('b',-1)..struct.pack('B',1.9)
----
return {struct.unpack('b','\255')}
----
return {struct.unpack('B','\255')}
----
return {struct.unpack('>I4','\0\0\1\0')}
----
return {struct.unpack('<i4','\254\255\255\255')}
----
return {struct.unpack('>i3','\255\255\254')}
----
return {struct.unpack('bhi',struct.pack('bhi',1,2,3))}
----
return {struct.unpack('!bhi',struct.pack('!bhi',1,2,3))}
----
local a,b=struct.unpack('f',struct.pack('f',1.5)) return {tostring(a),b}
----
local a,b=struct.unpack('>d',struct.pack('>d',0.1)) return {tostring(a),b}
----
return {struct.unpack('s','hello\0world')}
----
return {struct.unpack('ss','hello\0world\0')}
----
return {struct.unpack('s','hello')}
----
return {struct.unpack('c3','hello')}
----
return {struct.unpack('Bc0','\3hello')}
----
return {struct.unpack('c0','hello')}
----
return {struct.unpack('Bc0','\9hello')}
----
return {struct.unpack('b','')}
----
return {struct.unpack('i','\1\2')}
----
return {struct.unpack('b','\1\2\3',2)}
----
return {struct.unpack('b','\1\2\3',4)}
----
return {struct.unpack('b','\1\2\3',0)}
----
return {struct.unpack('b','\1\2\3',-1)}
----
return {struct.unpack('x b','\1\2\3')}
----
return {struct.unpack('b')}
----
return {struct.unpack()}
----
return {struct.unpack('z','x')}
----
return {struct.unpack('i9','123456789')}
----
return {struct.unpack('','x')}
----
return tostring((struct.unpack('I8','\255\255\255\255\255\255\255\255')))
----
return tostring((struct.unpack('i8','\255\255\255\255\255\255\255\255')))
----
return struct.size('bhilfd')
----
return struct.size('!bhilfd')
----
return struct.size('!4bd')
----
return struct.size('i3c10x')
----
return struct.size('s')
----
return struct.size('c0')
----
return struct.size('')
----
return struct.size('z')
----
return struct.size('?')
----
return struct.size()
----
return bit.tobit(2^31)..' '..bit.tobit(-1)..' '..bit.tobit(2^32+5)..' '..bit.tobit(1.5)..' '..bit.tobit(2.5)
----
return bit.tobit()
----
return bit.tobit('x')
----
return bit.tobit('12')
----
return bit.tobit({})
----
return bit.tobit(1e20)
----
return bit.bnot(0)..' '..bit.bnot(-1)..' '..bit.bnot(5)
----
return bit.band(255,15)..' '..bit.bor(1,2,4)..' '..bit.bxor(5,3)
----
return bit.band()
----
return bit.band(1)
----
return bit.band(7,6,4)
----
return bit.bor(1,'x')
----
return bit.lshift(1,31)..' '..bit.lshift(1,32)..' '..bit.rshift(-1,28)..' '..bit.arshift(-16,2)
----
return bit.lshift(1)
----
return bit.rol(2^31,1)..' '..bit.ror(1,1)..' '..bit.rol(0x12345678,8)
----
return bit.bswap(0x12345678)
----
return bit.tohex(255)..bit.tohex(255,4)..bit.tohex(255,-4)..bit.tohex(-1)..bit.tohex(1,0)..bit.tohex(1,100)
----
return bit.tohex()
----
return bit.tohex('x')
----
return bit.tohex(1,-2^31)
----
for i=1,3 do end return i
----
for i=1,0 do return 1 end return 0
----
for i=3,1,-1 do if i==2 then return i end end
----
for i=1,2,0 do return 'z' end return 'n'
----
for i='1',2 do return type(i) end
----
for i='a',2 do end
----
for i=1,{} do end
----
for i=1,2,nil do end
----
for i=nil,2 do end
----
local t={} for i=0,1,0.25 do t[#t+1]=tostring(i) end return t
----
local t={} for i,v in ipairs({5,6,nil,7}) do t[#t+1]=i..v end return t
----
ipairs()
----
ipairs(1)
----
pairs()
----
pairs(nil)
----
for k,v in 1 do end
----
for k,v in nil do end
----
for k,v in {} do end
----
local x for k,v in x do end
----
local x={} for k,v in x.y do end
----
for k,v in next,{10} do return {k,v} end
----
for a in function() end do end return 1
----
local t={} for k,v in pairs({a=1,b=2,c=3,d=4}) do t[#t+1]=k end return t
----
local t={} for k,v in pairs({x=1,10,20,y=2,30}) do t[#t+1]=tostring(k) end return t
----
local t={} for k,v in pairs({10,20,30,nil,50}) do t[#t+1]=tostring(k) end return t
----
local a={} for i=1,20 do a['key'..i]=i end local t={} for k in pairs(a) do t[#t+1]=k end return t
----
local a={} for i=20,1,-1 do a[i]=i end local t={} for k in pairs(a) do t[#t+1]=k end return t
----
local a={} for i=1,50,7 do a[i]=i end local t={} for k in pairs(a) do t[#t+1]=k end return t
----
local a={} for i=1,10 do a[i]=i a['x'..i]=i end for i=1,10,2 do a[i]=nil a['x'..i]=nil end local t={} for k in pairs(a) do t[#t+1]=tostring(k) end return t
----
local a={} for i=1,10 do a[i/4]=i end local t={} for k in pairs(a) do t[#t+1]=tostring(k) end return t
----
local a={[1e300]=1,[-5]=2,[0]=3,[2^40]=4,[true]=5,[false]=6} local t={} for k in pairs(a) do t[#t+1]=tostring(k) end return t
----
local a={} for i=1,100 do a[i]=i end for k in pairs(a) do a[k]=nil end return next(a)
----
local a={1,2,3} for k in pairs(a) do a[k+100]=1 break end return #a
----
local a={} a[1]=1 a[2]=2 a[4]=4 return #a
----
local a={} a[1]=1 a[2]=2 a[3]=3 a[4]=4 a[2]=nil return #a
----
local a={1,2,3,4} a[4]=nil return #a
----
local a={1,2,3,nil,5} return #a
----
local a={nil,nil,3} return #a
----
local a={n=1,nil,2} return #a
----
local a={} for i=1,17 do a[i]=i end a[17]=nil a[16]=nil return #a
----
local a={} a[3]=1 a[2]=1 a[1]=1 return #a
----
local a={[1]=1,[2]=2,[3]=3} a[5]=5 return #a
----
local t={} t[50000000]=1 return {#t, t[50000000]}
----
local a,b,c=(function() return 1,2,3 end)() return {a,b,c}
----
local a,b,c=((function() return 1,2,3 end)()) return {a,tostring(b)}
----
return (function(...) return select('#',...) end)(nil,nil)
----
return (function(...) local a,b=... return {b,a} end)(1,2)
----
return (function(a,...) return arg==nil end)(1,2)
----
local function f(...) return arg.n end return f(1,2,3)
----
local function f(...) return arg[2] end return f(1,2,3)
----
local function f(...) local x={...} return #x end return f(1,2,3)
----
return ...
----
return select('#',...)
----
local a,b=1,2 a,b=b,a return {a,b}
----
local t={1,2} local i=1 i,t[i]=i+1,20 return {i,t[1],t[2]}
----
local a={} local b=a a.x,a=1,{} return {b.x,tostring(a.x)}
----
local x=1 do local x=2 end return x
----
local x=1 local function f() x=x+1 return x end f() return f()
----
local t={} for i=1,3 do t[i]=function() return i end end return {t[1](),t[2](),t[3]()}
----
local t={} local i=1 while i<=3 do local j=i t[i]=function() j=j+1 return j end i=i+1 end return {t[1](),t[1](),t[2]()}
----
local a=1 repeat local b=a a=a+1 until b>=3 return a
----
local f repeat local x=5 f=function() return x end until x==5 return f()
----
local function f() return f end return tostring(f()==f)
----
local f=function() return f end return f()
----
while true do break end return 1
----
for i=1,10 do if i==5 then break end end return 2
----
local n=0 for i=1,3 do for j=1,3 do if j==2 then break end n=n+1 end end return n
----
return 1 or error('x')
----
return nil and error('x')
----
return false or nil
----
return nil or false
----
return (nil and 1) or 2
----
local x=nil local y=x and x.z or 'def' return y
----
local t={} local x=t[3] and 5 return tostring(x)
----
return not nil == true
----
return 1 .. 2 == '12'
----
return 2^3^2
----
return -2^2
----
return not 1 == 2
----
return 'a'..'b'=='ab' and 1 or 2
----
return 5 > 3 and 'yes' or 'no'
----
return #'abc'+1
----
return -'2'+0
----
return - - -5
----
return 1 --[[ comment ]] + 2
----
return --[==[ long ]] ]==] 7
----
return [[
line1
line2]]
----
return [==[a]]b]==]
----
return '\65\066\x41'
----
return "\z"
----
return '\n\t\\\"\''
----
return '\
x'
----
return 'a\
b'
----
return 0x10
----
return 0xA.8
----
return 1e3
----
return .5*2
----
return 3.
----
return 1e+2
----
return 0xg
----
return 1x
----
return 3..2
----
return 1...2
----
a.b:c=1
----
goto x
----
local goto=1 return goto
----
::x::
----
return 5 return 6
----
return;
----
return
----
break
----
if
----
if x
----
if x then
----
while
----
while true
----
for
----
for i
----
for i=
----
for i=1
----
for i=1,
----
for i=1,2
----
for i in
----
for i,
----
function
----
function f
----
function f(
----
function f(a
----
function f(a,
----
function f(...,a) end
----
function f() 
----
local
----
local function
----
local function f
----
local x y
----
local x =
----
x
----
x =
----
x y
----
x,y
----
x,y=
----
x.
----
x.1
----
x:
----
x:y
----
x:y=1
----
x[
----
x[1
----
x()=1
----
(x)=1
----
f() = 1
----
1 = x
----
'x' = 1
----
nil = 1
----
{} 
----
return {
----
return {1
----
return {1,
----
return {1 2}
----
return {[1]}
----
return {[1=2}
----
return {a=}
----
return {=1}
----
return (
----
return (1
----
return 1 +
----
return + 1
----
return * 2
----
return 1 1
----
return a b
----
return "abc
----
return 'abc
----
return "a
b"
----
return [[abc
----
return [==[abc]]
----
return [=abc
----
--[[ unfinished
----
return 1 --[==[ unfinished
----
return '\300'
----
return '\999'
----
return @
----
return $x
----
return 1 ~ 2
----
return 1 ! 2
----
return 1 & 2
----
return 1 // 2
----
return a ~= = b
----
return f
(1)
----
local x <const> = 1
----
return function
----
return function(
----
return function() 
----
return function() end end
----
until x
----
repeat
----
repeat until
----
end
----
else
----
elseif
----
do
----
do end end
----
local a = {} a.b.c:d(1).e = 5
----
return ~1
----
x = 
----
function a.b.c:d.e() end
----
function a:b:c() end
----
local a.b = 1
----
local function a.b() end
----
for a.b = 1,2 do end
----
return 0x
----
return 1e
----
return 1.2.3
----
return ..1
----
return ... ...
----
function f() return ... end
----
return [[a]] .. [=[b]=] .. "c"
----
--x
----
return 1 -- x
----
#!x
----
local s = "multi\
line" error(s)
----
error('a\nb')
----
error('a\r\nb\n')
----
error(string.rep('x',200))
----
local t={} t[1]=t return t
----
local t={} t.map={a=t} return t
----
local t={} t.set={[t]=true} return t
----
local t={} t.map={[t]=1} return t
----
return {map={[1]='a'}}
----
return {map={a={1,2}},set={b=true}}
----
return {set={a=1,b=2}}
----
return {double='x'}
----
return {ok=1}
----
return {err=1}
----
return {err='x',ok='y'}
----
return {map=1}
----
return {big_number=123}
----
return {big_number='1\n2'}
----
return {verbatim_string={format='longer',string='x'}}
----
return {verbatim_string={format='a',string='x'}}
----
return {verbatim_string={format=1,string=2}}
----
return {ok=''}
----
return {err=''}
----
return {err='-X y'}
----
return {err='nospace'}
----
return {[0]='zero','one'}
----
return {1.9,-1.9,'1.9',true}
----
local t={} for i=1,300 do t[i]=i end return t
----
return redis.call('ping').ok
----
return setmetatable({},{__index=function(t,k) if k<3 then return k end end})
----
local s = string.rep('a', 100) return {s, #s}
----
return KEYS
----
return ARGV
----
return {redis.call('ping'), redis.pcall('nosuch'), 'x'}
----
return {redis.pcall('nosuch')}
----
local r = redis.pcall('nosuch') r.x = 1 return r
----
local e = redis.pcall('nosuch') error(e)
----
local e = redis.pcall('nosuch') error(e.err)
----
local ok, e = pcall(redis.call, 'get') return redis.error_reply(e)
----
return pcall(redis.call, 'get')
----
return {pcall(redis.call, 'ping')}
----
return select('#', pcall(redis.call, 'nosuch'))
----
error(redis.error_reply('MY code'))
----
return error(redis.error_reply('MY code'))
----
local function a() return redis.call('nosuch') end
local function b() a() end
b()
----
local t = setmetatable({}, {__index = function() return redis.call('nosuch') end})
return t.x
----
table.sort({1,2}, function() return redis.call('nosuch') end)
----
string.gsub('x', 'x', function() error('in callback') end)
----
for i in function() error('in iterator') end do end
----
return (function() error('tail') end)()
----
return error('tail call')
----
return string.rep()
----
return tostring(setmetatable({}, {__tostring = function() error('ts') end}))
----
local t = {} t = t + 1
----
local t = {} for k, v in pairs(t.x) do end
----
return ('x'):bad()
----
return math.floor('x')
----
return ('x'):rep({})
----
return ('x'):rep(1, 2, 3)
----
local s = 'x' return s:rep()
----
return string.format('%d', 'x')
----
return ("%d"):format('x')
----
local f = string.rep f()
----
local t = {f = string.rep} t.f()
----
local t = {f = string.rep} t:f()
----
pcall(string.rep)
return select(2, pcall(string.rep))
----
return select(2, pcall(string.rep, 'x', {}))
----
local co = coroutine.wrap(function() string.rep() end) co()
----
return select(2, pcall(function() local t = nil; t.x = 1 end))
----
local a = {} return a.b.c.d
----
local a = {b = {}} return a.b.c.d
----
local a = {b = {}} a.b.c.d = 1
----
local a = {b = {}} a.b.c()
----
local a = {b = {}} a.b:c()
----
local a = {} a[1][2] = 3
----
local a, i = {}, 1 return a[i].x
----
local a, k = {}, 'key' return a[k].x
----
local a, k = {}, 'key' a[k]()
----
local a = 1 local function f() return a.x.y end return f()
----
local a local function f() return a() end return f()
----
local a local function f() return a + 1 end return f()
----
local a local function f() return a .. 'x' end return f()
----
local a local function f() return #a end return f()
----
local a local function f() return -a end return f()
----
local a local function f() return a < 1 end return f()
----
return KEYS.x.y
----
return KEYS[5] + 1
----
return ARGV[5] .. 'x'
----
return string.nosuch()
----
return string.nosuch.x
----
return redis.nosuch()
----
return (nil)()
----
return ({})()
----
return ("x")()
----
return (1)()
----
return (true)()
----
return nil()
----
local x = nil x()
----
local x = 5 x.y.z = 1
----
local x = 5 return x.y
----
local x = true return x.y
----
local x = function() end return x.y
----
local x = function() end x.y = 1
----
return 2 ^ 'x'
----
return 2 ^ {}
----
return 10 % nil
----
return 1 / 'a'
----
return ({} < {})
----
return (print < print)
----
return ('a' < 1)
----
return (1 < 'a')
----
return (nil > 1)
----
return ({} >= 1)
----
return (true > false)
----
return coroutine.create(function() end) < 1
----
for i = 1, 'x' do end
----
for i = {}, 1 do end
----
for i = 1, 2, 'x' do end
----
for i = 1, 2, {} do end
----
local a <const> = 1
----
return 'a' 'b'
----
local t = {1, 2, 3} return #t, t
----
if nil then return 1 elseif false then return 2 else return 3 end
----
local i = 0 while i < 10 do i = i + 1 if i == 5 then break end end return i
----
local function f(...) return select('#', ...), ... end return {f(nil, nil, nil)}
----
local function f(a, b, ...) return {a, b, ...} end return f(1, 2, 3, 4)
----
local function f() return 1, 2, 3 end return {f(), f()}
----
local function f() return 1, 2, 3 end return {(f())}
----
local function f() return 1, 2, 3 end local a, b, c, d = f() return {a, b, c, tostring(d)}
----
local t = {f = function(self, x) return self.v + x end, v = 10} return t:f(5)
----
local mt = {__index = {greet = function(self) return 'hi ' .. self.name end}} return setmetatable({name = 'bob'}, mt):greet()
----
local Account = {} Account.__index = Account function Account.new(b) return setmetatable({b = b}, Account) end function Account:add(n) self.b = self.b + n return self end return Account.new(10):add(5):add(1).b
----
local s = 0 for _, v in ipairs({1, 2, 3, 4}) do s = s + v end return s
----
local q = {} for i = 1, 5 do table.insert(q, 1, i) end return table.concat(q, ',')
----
local t = {} t[1.0] = 'a' t[1] = 'b' return t[1]
----
local t = {} t['1'] = 'a' t[1] = 'b' return {t['1'], t[1]}
----
local t = {} t[2^53] = 'big' return t[2^53]
----
local t = {} t[-0] = 'z' return t[0]
----
local t = {} for i = 1, 10 do t[i] = i end for i = 1, 10 do t[i] = nil end return #t
----
local n = 0 for k in pairs({1, 2, 3, a = 1, b = 2}) do n = n + 1 end return n
----
local t = {a = 1, b = 2, c = 3} for k in pairs(t) do t[k] = nil end return tostring(next(t))
----
local t = {} for i = 1, 3 do t['k' .. i] = i end local s = '' for k, v in pairs(t) do s = s .. k .. v end return s
----
return cjson.encode({id = 7, user = {name = 'ann', roles = {'admin', 'dev'}}, active = true, score = 9.5})
----
return cjson.encode({type = 'job', id = '42', data = {to = 'x@y.z', retry = 3}, opts = {delay = 100, attempts = 5}, timestamp = 1700000000000})
----
local t = cjson.decode('{"z":1,"y":2,"x":3,"w":4,"v":5}') local s = '' for k, v in pairs(t) do s = s .. k .. v end return s
----
return cmsgpack.pack({id = 7, name = 'n', tags = {'a', 'b'}, opts = {x = 1, y = 2}})
----
local a = {} for w in ('the quick brown fox jumps over the lazy dog'):gmatch('%a+') do a[w] = #w end return cjson.encode(a)
----
local t = {} for i = 1, 40 do t['field:' .. i * 7] = i end return cjson.encode(t)
----
local t = {} for i = 1, 20 do t[i * 3] = i end return cmsgpack.pack(t)
----
local t = {} for i = 30, 1, -1 do t['x' .. i] = i end for i = 1, 30, 3 do t['x' .. i] = nil end for i = 1, 10 do t['y' .. i] = i end return cjson.encode(t)
----
local s = '' for k in pairs(string) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(table) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(math) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(redis) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(cjson) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(cmsgpack) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(bit) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(struct) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(coroutine) do s = s .. k .. ' ' end return s
----
local s = '' for k in pairs(_G) do s = s .. k .. ' ' end return s
----
local t = {} for k in pairs(_G) do t[#t + 1] = k end table.sort(t) return t
----
return #tostring(print) > 10
----
return tostring(print):match('^(%a+): ')
----
return tostring({}):match('^(%a+): 0x%x+$')
----
return tostring(coroutine.create(function() end)):match('^(%a+): ')
----
return math.log(8) .. ' ' .. math.exp(2) .. ' ' .. math.pow(3, 0.3)
----
return string.format('%.17g %.17g %.17g', math.exp(-3.3), math.log(0.07), 7.7 ^ 3.3)
----
return string.format('%.17g %.17g', 2 ^ 0.333, 1.0001 ^ 10000)
----
return tostring(0/0) .. tostring(-(0/0)) .. tostring(math.huge - math.huge) .. tostring(0 * math.huge) .. tostring(math.sqrt(-1))
----
return string.format('%.14g|%.3g|%g|%g', 100000000000000, 0.00001234, 123456789, 1e15)
----
return 1e15 .. '|' .. 1e16 .. '|' .. 123456789012 .. '|' .. 0.1 + 0.2 .. '|' .. 100 / 3
----
return tostring(1e14) .. tostring(99999999999999) .. tostring(999999999999999)
----
return redis.call('echo', 0.1 + 0.2)
----
return redis.call('echo', 1e14 + 0.5)
----
return redis.call('echo', 100 / 3)
----
return redis.call('echo', -1e-10)
----
return redis.call('echo', 2^64)
----
return redis.call('echo', 0/0)
----
return redis.call('ECHO', 'UPPER')
----
return redis.call('EcHo', 'mixed')
----
return redis.call(1)
----
return redis.call('echo', 'a', 'b')
----
return redis.call('', 'x')
----
return redis.call('set', 'k')
----
return redis.pcall('set', 'k')
----
return redis.call('set', KEYS[1], ARGV[1]) and redis.call('get', KEYS[1])
----
error('a\n\255b\r\n')
----
return {err='a\n\255b'}
----
return {ok='\255\n\254'}
----
error({err='x\0y'})
----
error('x\0y')
----
return {err='x\0y'}
----
return redis.status_reply('a\nb')
----
return redis.error_reply('a\nb c')
----
#!lua
return 1
----
#!lua flags=no-writes
return 1
----
#!lua flags=no-writes,allow-oom,allow-stale,no-cluster,allow-cross-slot-keys
return 2
----
#!lua flags=bogus
return 1
----
#!lua flags=
return 1
----
#!lua flags=no-writes,
return 1
----
#!lua name=x
return 1
----
#!lua "flags=no-writes"
return 1
----
#!lua "unclosed
return 1
----
#!python
return 1
----
#!
return 1
----
#!lua
----
#! lua
return 1
----
#!LUA
return 1
----
#!lua
error('line two')
----
#!lua
x = = 1
----
#!lua flags=no-writes flags=allow-oom
return 1
----
#!lua flags=NO-WRITES
return 1
----
#!lua

return undefined_global
----
error(setmetatable({}, {__index = {err = 'FOO bar'}}))
----
local n = 0 error(setmetatable({}, {__newindex = {}, __index = function(t, k) n = n + 1 return k .. n end}))
----
pcall(redis.call, 'get') error(setmetatable({err = 17}, {__newindex = {}, __index = {source = 's', line = 7}}))
----
error(setmetatable({err = 'A b'}, {__newindex = {}}))
----
error(setmetatable({err = 'A b'}, {__newindex = function(t, k) rawset(t, k, 'set ' .. k) end}))
----
error(setmetatable({err = 'A b'}, {
__newindex = function(t, k) error('new ' .. k) end}))
----
error(setmetatable({err = 'A b'}, {
__newindex = function(t, k) error({err = 'NEW ' .. k}) end}))
----
error(setmetatable({err = 'A b'}, {__newindex = function(t, k) error(t) end}))
----
error(setmetatable({err = 'A b'}, {__newindex = error}))
----
error(setmetatable({err = 'A b'}, {__newindex = 5}))
----
error(setmetatable({err = 'A b'}, {__newindex = function(t, k, v) rawset(t, k, v) getmetatable(t).__newindex = 5 end}))
----
error(redis)
----
return {err = setmetatable({}, {__index = {err = 'X y'}})}
----
return setmetatable({}, {__index = {err = 'X y'}})
----
return {pcall(error, setmetatable({}, {__index = {err = 'X y'}}))}
----
local n = 0 return {select(2, xpcall(error, function() n = n + 1 error(n) end)), n}
----
local n = 0 local function f() return 1 + f() end return {select(2, xpcall(f, function() n = n + 1 f() end)), n}
----
return xpcall(error, function(e)
if not e then
error('b') end return e end)
----
return {cmsgpack.unpack_limit('\1\2\3', 0, 0)}
----
return {cmsgpack.unpack_limit('\1\2\3', 2147483648, 0)}
----
return {cmsgpack.unpack_limit('\1\2\3', 2147483649, 0)}
----
return {cmsgpack.unpack_limit('\1\2\3', 4294967296, 0)}
----
return {cmsgpack.unpack_limit('\1\2\3', 4294967297, 0)}
----
local out = {}
for _, n in ipairs({2147483648, 4294967296, 4294967297, -2147483648, -2147483649, -4294967295, -4294967297, 1e300, -1e300, 1/0, -1/0, 0/0, 9223372036854775807}) do
for _, f in ipairs({function() return cmsgpack.unpack_one('\1\2\3', n) end, function() return cmsgpack.unpack_limit('\1\2\3', 1, n) end, function() return cmsgpack.unpack_limit('\1\2\3', n, 0) end, function() return cmsgpack.unpack_limit('\1\2\3', n, n) end}) do
local _, a = pcall(f) out[#out + 1] = tostring(a) end end return out
