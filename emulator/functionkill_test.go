package emulator_test

import (
	"regexp"
	"strings"
	"testing"
)

const (
	unkillable   = "-UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."
	busyScript   = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	busyFunction = "-BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
)

// slowLibrary has a function that never ends, and one that has written and ends
// when it is told.
const slowLibrary = `#!lua name=slow
redis.register_function('forever', function() while true do end end)
redis.register_function('written', function(keys) ` + writtenScript + ` end)`

// writtenScript writes and then waits for a DISCARD, which others may send
// meanwhile: the statistics, which it may read, tell.
const writtenScript = `redis.call('set', 'written', 1)
repeat
	for i = 1, 100000 do end
until string.find(redis.call('info', 'commandstats'), 'cmdstat_discard:', 1, true)
return 'done'`

// ask sends a command and compares the reply, in which # stands for a number and
// … at the end for the rest.
func (w *wire) ask(want string, words ...string) {
	w.t.Helper()
	w.command(words...)
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "#", "[0-9]+")
	if begin, cut := strings.CutSuffix(pattern, "…"); cut {
		pattern = begin + "(?s:.*)"
	}
	if got := w.reply(); !regexp.MustCompile("^" + pattern + "$").MatchString(got) {
		w.t.Errorf("%q: %q, want %q", words, got, want)
	}
}

// asked is a command and its reply; %busy stands for that to ordinary commands,
// %reason for its text.
type asked struct {
	words string
	want  string
}

// whileBusy is what a client hears while a script or function of another runs for
// too long. What the command itself has wrong comes first.
var whileBusy = []asked{
	{"PING", "%busy"}, {"ECHO a", "%busy"}, {"GET a", "%busy"}, {"SET a 1", "%busy"}, {"TIME", "%busy"}, {"INFO", "%busy"},
	{"EVAL return 0", "%busy"}, {"FCALL forever 0", "%busy"}, {"FUNCTION LIST", "%busy"}, {"FUNCTION HELP", "%busy"},
	{"FUNCTION DELETE slow", "%busy"}, {"SCRIPT EXISTS a", "%busy"}, {"SCRIPT FLUSH", "%busy"}, {"SCRIPT HELP", "%busy"},
	{"CLIENT ID", "%busy"}, {"CLIENT REPLY ON", "%busy"}, {"CONFIG GET port", "%busy"}, {"COMMAND COUNT", "%busy"},
	{"SUBSCRIBE a", "%busy"}, {"SELECT 0", "%busy"}, {"DEBUG SLEEP 0", "%busy"},
	{"NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with: "},
	{"FUNCTION NOSUCH", "-ERR unknown subcommand 'NOSUCH'. Try FUNCTION HELP."},
	{"GET", "-ERR wrong number of arguments for 'get' command"},
	{"SCRIPT KILL a", "-ERR wrong number of arguments for 'script|kill' command"},
	{"FUNCTION KILL a", "-ERR wrong number of arguments for 'function|kill' command"},
	{"FUNCTION STATS a", "-ERR wrong number of arguments for 'function|stats' command"},
	{"WATCH a", "+OK"}, {"UNWATCH", "+OK"},
	{"MULTI", "+OK"}, {"GET a", "%busy"}, {"EXEC", "-EXECABORT Transaction discarded because of: %reason"},
	{"EXEC", "-EXECABORT Transaction discarded because of: %reason"},
	{"MULTI", "+OK"}, {"FUNCTION KILL", "+QUEUED"}, {"RESET", "+RESET"},
	{"AUTH a", "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"},
	{"AUTH default a", "+OK"}, {"AUTH nobody a", "-WRONGPASS invalid username-password pair or user is disabled."},
	{"HELLO 9", "-NOPROTO unsupported protocol version"}, {"HELLO 2", "*[server redis …"},
	{"REPLCONF", "+OK"}, {"REPLCONF a", "-ERR syntax error"}, {"REPLCONF a b", "-ERR Unrecognized REPLCONF option: a"},
	{"SHUTDOWN", "%busy"}, {"SHUTDOWN SAVE", "%busy"}, {"SHUTDOWN NOW FORCE", "%busy"},
	{"SHUTDOWN ABORT", "-ERR No shutdown in progress."}, {"SHUTDOWN NOSAVE SAVE", "-ERR syntax error"},
}

const (
	nothingRuns = "-NOTBUSY No scripts in execution right now."
	engines     = "engines *[LUA *[libraries_count :1 functions_count :2]]]"
	idle        = "*[running_script (nil) " + engines
)

// slowKind is a script or a function that takes long.
type slowKind struct {
	name             string
	forever, written []string // commands
	busy             string   // what others hear
	kill, misfit     string   // the container whose KILL is right, and the other
	stats            string   // FUNCTION STATS of the one that has written
	killed           string   // what the caller of the endless one hears
}

var slowKinds = []slowKind{
	{
		name:    "script",
		forever: []string{"EVAL", "while true do end", "0"},
		written: []string{"EVAL", writtenScript, "1", "written"},
		busy:    busyScript, kill: "SCRIPT", misfit: "FUNCTION", stats: busyScript,
		killed: "-ERR Script killed by user with SCRIPT KILL... script: 694a5fe1ddb97a4c6a1bf299d9537c7d3d0f84e7, on @user_script:1.",
	},
	{
		name:    "function",
		forever: []string{"FCALL", "forever", "0"},
		written: []string{"fcall", "WRITTEN", "1", "written", "b"},
		busy:    busyFunction, kill: "FUNCTION", misfit: "SCRIPT",
		stats:  "*[running_script *[name written command *[fcall WRITTEN 1 written b] duration_ms :#] " + engines,
		killed: "-ERR Script killed by user with SCRIPT KILL... script: forever, on @user_function:2.",
	},
}

// Scripts and functions that run for too long can be killed, each with its own
// command, unless they have written.
func TestFunctionKill(t *testing.T) {
	for _, kind := range slowKinds {
		t.Run(kind.name, func(t *testing.T) {
			onRedisAndOurs(t, func(t *testing.T, connect func() *wire) {
				caller, other := connect(), connect()
				other.ask("slow", "FUNCTION", "LOAD", slowLibrary)
				other.ask(nothingRuns, "SCRIPT", "KILL")
				other.ask(nothingRuns, "FUNCTION", "KILL")
				other.ask("+OK", "CONFIG", "SET", "busy-reply-threshold", "1")
				kind.endless(caller, other)
				other.ask("+OK", "CONFIG", "RESETSTAT")
				kind.writing(caller, other)
			})
		})
	}
}

func (k slowKind) endless(caller, other *wire) {
	caller.t.Helper()
	caller.command(k.forever...)
	caller.command("ECHO", "next")
	waitForBusy(other)
	for _, a := range whileBusy {
		want := strings.NewReplacer("%busy", k.busy, "%reason", k.busy[1:]).Replace(a.want)
		other.ask(want, strings.Fields(a.words)...)
	}
	other.ask(k.busy, k.misfit, "KILL")
	other.ask("+OK", k.kill, "KILL")
	caller.expect(k.killed, "next")
	other.ask(nothingRuns, k.kill, "KILL")
	other.ask(idle, "FUNCTION", "STATS")
}

func (k slowKind) writing(caller, other *wire) {
	caller.t.Helper()
	// On a busy machine it may be slow before it writes, and is killed like any
	// other.
	for {
		caller.command(k.written...)
		waitForBusy(other)
		other.command(k.kill, "KILL")
		reply := other.reply()
		if reply == unkillable {
			break
		}
		if reply != "+OK" {
			caller.t.Fatalf("%s KILL of what writes: %q", k.kill, reply)
		}
		caller.reply()
	}
	other.ask(unkillable, k.misfit, "KILL")
	other.ask(k.busy, "GET", "written")
	other.ask(k.stats, "FUNCTION", "STATS")
	other.ask("-ERR DISCARD without MULTI", "DISCARD")
	caller.expect("done")
	other.ask(idle, "FUNCTION", "STATS")
	other.ask("1", "GET", "written")
}
