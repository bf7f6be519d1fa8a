package emulator_test

import (
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
)

// What DEBUG does to data, functions and scripts was recorded from redis-server
// 7.0.15.
func TestDebug(t *testing.T) {
	const (
		cannotLoad = "-ERR Error trying to load the RDB dump"
		library    = "#!lua name=old\nredis.register_function('f', function() return 1 end)"
		another    = "#!lua name=new\nredis.register_function('f2', function() return 2 end)"
	)
	w := dial(t, emulator.RunT(t, emulator.Standalone(), emulator.RedisVersion("7.0")), 0)
	w.do(cannotLoad, "DEBUG", "RELOAD", "NOSAVE")
	w.do("+OK", "SET", "a", "1")
	w.do("-ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.", "DEBUG", "RELOAD", "bogus")
	w.do("old", "FUNCTION", "LOAD", library)
	w.do("+OK", "DEBUG", "RELOAD")
	w.do("+OK", "FUNCTION", "DELETE", "old")
	w.do("+OK", "SET", "a", "2")
	w.do("+OK", "SET", "b", "3")
	w.do("new", "FUNCTION", "LOAD", another)
	w.do("+OK", "DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE")
	w.do("1", "GET", "a")
	w.do("3", "GET", "b")
	w.do(":1", "FCALL", "f", "0")
	w.do(":2", "FCALL", "f2", "0")
	w.do("+OK", "DEBUG", "RELOAD", "NOSAVE")
	w.do("1", "GET", "a")
	w.do(":0", "EXISTS", "b")
	w.do(":1", "FCALL", "f", "0")
	w.do("-ERR Function not found", "FCALL", "f2", "0")
	w.do(":1", "DEL", "a")
	w.do(cannotLoad, "DEBUG", "RELOAD", "NOFLUSH")

	w.do("-ERR This Redis command is not allowed from script script: a1a26f530879a6ecfbe0d6f9095fcb2bb769bc4c, on @user_script:1.",
		"EVAL", "redis.call('debug','sleep',0)", "0")
	w.do("+OK", "DEBUG", "SET-DISABLE-DENY-SCRIPTS", "1")
	w.do("Some real reply following the attribute", "EVAL", "redis.setresp(3) return redis.call('debug','protocol','attrib')", "0")
	w.do("id=", "EVAL", "return string.sub(redis.call('client','list'),1,3)", "0")
	w.do("+OK", "DEBUG", "SET-DISABLE-DENY-SCRIPTS", "0")
}
