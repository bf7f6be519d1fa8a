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
