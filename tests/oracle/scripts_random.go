package oracle

// luaScripts are short scripts for EVAL: conversions, calls, errors.
var luaScripts = []string{
	"return 1", "return KEYS[1]", "return ARGV[1]", "return {1,2,'a',{3}}", "return {KEYS[1],ARGV[1]}", "return #KEYS + #ARGV",
	"return redis.call('GET',KEYS[1])", "return redis.pcall('GET',KEYS[1])", "return redis.call('SET',KEYS[1],ARGV[1])",
	"return redis.call('INCR',KEYS[1])", "return redis.pcall('INCR',KEYS[1])", "return redis.call('INCRBYFLOAT',KEYS[1],ARGV[1])",
	"return redis.call('LPUSH',KEYS[1],unpack(ARGV))", "return redis.call('LRANGE',KEYS[1],0,-1)", "return redis.call('TYPE',KEYS[1])",
	"return redis.call('TYPE',KEYS[1]).ok", "return redis.call('ZADD',KEYS[1],'1.5','a','2','b')", "return redis.call('ZRANGE',KEYS[1],0,-1,'WITHSCORES')",
	"return redis.call('ZSCORE',KEYS[1],'a')", "return redis.call('HSET',KEYS[1],'f',ARGV[1])", "return redis.call('HGET',KEYS[1],'f')",
	"return redis.call('DEL',unpack(KEYS))", "return redis.call('EXISTS',unpack(KEYS))", "return redis.call('SADD',KEYS[1],'a','b')",
	"redis.call('SET',KEYS[1],'x') return redis.call('GET',KEYS[1])", "redis.call('SET',KEYS[1],'x') error('late')",
	"redis.call('SELECT',0) return redis.call('DBSIZE')",
	"return redis.status_reply('FINE')", "return redis.error_reply('MY ERR')", "return redis.error_reply('')", "return {err='plain'}", "return {ok='good'}",
	"return 3.99", "return -3.99", "return true", "return false", "return nil", "return {1,nil,3}", "return {}", "return ''", "return 2^53", "return {1.5,'2'}",
	"return {true,false}", "return {double=3.5}", "return tostring(1e15)", "return 1/0",
	"return redis.sha1hex('')", "return redis.sha1hex(ARGV[1])", "error('boom')", "error({err='My Err'})", "return redis.call()", "return redis.call('nosuch')",
	"return redis.call('GET')", "return redis.pcall('GET').err", "return redis.call({})", "return redis.call('SET',KEYS[1],true)", "return undefined_name", "new_global = 1", "return",
	"return redis.call('ECHO',12.5)", "return redis.call('ECHO',3)", "return string.format('%d %s %5.2f',42,'x',1.234)", "return cjson.encode({1,2,{a=1}})",
	"return cjson.decode('[1,2,3]')", "return tonumber(ARGV[1])", "local a = redis.pcall('LPUSH',KEYS[1],'a') if a.err then return a.err end return a",
	"redis.setresp(3) return redis.call('HGET',KEYS[1],'f')", "redis.setresp(3) return redis.call('ZSCORE',KEYS[1],'a')", "redis.setresp(4)",
	"syntax error here", "return redis.log(redis.LOG_DEBUG,'x')", "redis.breakpoint()", "return redis.REDIS_VERSION_NUM ~= nil", "return redis.call('MULTI')", "return redis.call('SUBSCRIBE','c')",
	"return redis.call('BLPOP',KEYS[1],0)", "return {redis.call('PING'),redis.call('PING','x')}", "return redis.call('GET','s1{b}')", "return type(redis.call('SET',KEYS[1],'v').ok)",
	"#!lua\nreturn 5", "#!lua flags=no-writes\nreturn redis.call('SET',KEYS[1],'v')", "#!lua flags=nosuch\nreturn 1", "#!lua name=x\nreturn 1", "#!python\nreturn 1",
	"#!lua flags=allow-cross-slot-keys\nreturn redis.call('MGET',KEYS[1],'s1{b}')", "#!lua flags=no-cluster\nreturn 1", "return bit.band(7,3)", "return struct.pack('I',1)",
}

// script writes the arguments of EVAL from the script on: script or its SHA1,
// number of keys, keys, arguments.
func (g *Generator) script() []string {
	return append([]string{g.pick(luaScripts...)}, g.scriptArgs()...)
}

func (g *Generator) scriptArgs() []string {
	keys := g.rnd.IntN(3)
	if g.chance(0.7) {
		keys = 1
	}
	count := g.number(keys, keys)
	if g.chance(0.03) {
		count = g.pick("-1", "abc", "9", "99999999999999999999")
	}
	args := append([]string{count}, g.keys("any", keys)...)
	for range g.rnd.IntN(3) {
		args = append(args, g.value())
	}
	return args
}
