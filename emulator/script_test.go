package emulator_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

// What a script that does not end says, and what others hear meanwhile, was
// recorded from redis-server 7.0.15.
func TestSlowScripts(t *testing.T) {
	const killed = "-ERR Script killed by user with SCRIPT KILL... script: 694a5fe1ddb97a4c6a1bf299d9537c7d3d0f84e7, on @user_script:1."
	overEachNetwork(t, func(t *testing.T, connect func() *wire) {
		w, other := connect(), connect()
		other.do("-NOTBUSY No scripts in execution right now.", "SCRIPT", "KILL")
		other.do("+OK", "CONFIG", "SET", "busy-reply-threshold", "2")
		w.send("*3\r\n$4\r\nEVAL\r\n$17\r\nwhile true do end\r\n$1\r\n0\r\n")
		waitForBusy(other)
		other.do(busyScript, "GET", "a")
		other.do("+OK", "MULTI")
		other.do(busyScript, "GET", "a")
		other.do("-EXECABORT Transaction discarded because of: "+busyScript[1:], "EXEC")
		other.do(busyScript, "FUNCTION", "KILL")
		other.do("+OK", "SCRIPT", "KILL")
		w.expect(killed)
		w.do("+OK", "SET", "a", "1")

		// A caught error does not save it.
		w.send("EVAL \"while true do pcall(function() while true do end end) end\" 0\r\n")
		waitForBusy(other)
		other.do("+OK", "SCRIPT", "KILL")
		if got := w.reply(); !strings.HasPrefix(got, "-ERR Script killed by user with SCRIPT KILL... script: ") {
			t.Errorf("reply of a killed script: %q", got)
		}

		// One that has written runs until it ends. On a busy machine it may be slow
		// before it writes, and is killed like any other.
		for {
			w.send("EVAL \"redis.call('SET', 'a', 2) local i = 0 while i < 5e6 do i = i + 1 end return i\" 0\r\n")
			waitForBusy(other)
			other.send("SCRIPT KILL\r\n")
			reply := other.reply()
			if reply == unkillable {
				break
			}
			if reply != "+OK" {
				t.Fatalf("SCRIPT KILL of a script that writes: %q", reply)
			}
			w.reply()
			w.do("1", "GET", "a")
		}
		w.expect(":5000000")
		other.do("2", "GET", "a")
	})
}

// waitForBusy asks until a script has run for longer than the threshold.
func waitForBusy(w *wire) {
	w.t.Helper()
	for {
		w.send("PING\r\n")
		if strings.HasPrefix(w.reply(), "-BUSY") {
			return
		}
	}
}

// A script that the clock was advanced under has run for that long.
func TestAdvanceMakesScriptsSlow(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	w, other := dial(t, c, 0), dial(t, c, 0)
	other.do("+OK", "CONFIG", "SET", "busy-reply-threshold", "3600000")
	w.send("EVAL \"while true do end\" 0\r\n")
	slow := make(chan struct{})
	var advancing sync.WaitGroup
	advancing.Go(func() {
		for {
			select {
			case <-slow:
				return
			case <-time.After(5 * time.Millisecond):
				// It waits for the node if the script has begun only now.
				advancing.Go(func() { c.Advance(20 * time.Minute) })
			}
		}
	})
	waitForBusy(other)
	close(slow)
	other.do("+OK", "SCRIPT", "KILL")
	if got := w.reply(); !strings.HasPrefix(got, "-ERR Script killed by user") {
		t.Errorf("reply of the killed script: %q", got)
	}
	advancing.Wait()
}

func TestClosingEndsAScript(t *testing.T) {
	c := emulator.RunT(t, emulator.Standalone())
	w := dial(t, c, 0)
	w.send("EVAL \"while true do end\" 0\r\n")
	for { // until the script runs
		other := dial(t, c, 0)
		other.send("CONFIG SET busy-reply-threshold 1\r\nPING\r\n")
		if strings.HasPrefix(other.reply(), "-BUSY") {
			break
		}
		other.reply()
		w = dial(t, c, 0)
		w.send("EVAL \"while true do end\" 0\r\n")
	}
	c.Close()
}

func TestDeclaredKeysOnly(t *testing.T) {
	const refused = `-ERR Script attempted to access the key "b", which it did not declare: pass it in KEYS script: `
	w := dial(t, emulator.RunT(t, emulator.Standalone(), emulator.DeclaredKeysOnly()), 0)
	w.do("+OK", "EVAL", "return redis.call('SET', KEYS[1], 1)", "1", "a")
	w.send("EVAL \"redis.call('GET', KEYS[1]) return redis.call('MGET', 'a', 'b')\" 1 a\r\n")
	if got := w.reply(); !strings.HasPrefix(got, refused) {
		t.Errorf("a script that reads an undeclared key: %q, want %q…", got, refused)
	}
	w.do("*[1 (nil)]", "EVAL", "return redis.call('MGET', 'a', 'b')", "2", "b", "a")
	w.do("+PONG", "EVAL", "return redis.call('PING')", "0")
}
