// Package readiness tells what a program that was written for one Redis would
// meet on a cluster. A Recorder is shown every command the program has executed
// on a standalone server and keeps, by shape, those that a cluster would refuse
// or answer differently; a Report adds the hash tags that would put it right.
//
// Commands are gathered under their shape, "MGET user:#:name user:#:mail", so
// that a finding is one place in the program and not one of its many calls.
package readiness

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/slots"
)

// Bounds of what is kept; what is beyond them is counted only.
const (
	maxFindings = 2000
	maxSamples  = 50 // sets of keys per finding, to look for a tag in
	maxKeys     = 500_000
	maxClients  = 20 // named per finding
	maxBlock    = 1000
)

// Recorder gathers findings. Its method See may be called by several goroutines.
type Recorder struct {
	mu          sync.Mutex
	began       time.Time
	commands    int64
	findings    map[string]*found
	order       []*found // as they came
	connections map[int64]*connection
	keys        map[string]int64 // commands by key
	moreKeys    int64            // uses of keys that are not kept
	dropped     int64            // findings that are not kept
}

// found is a finding in the making.
type found struct {
	kind    Kind
	shape   string
	detail  string // for the explanation: a function's name, a database
	count   int64
	bytes   int64 // of messages
	clients map[string]int64
	samples []sample
}

// sample is one occurrence of a finding.
type sample struct {
	command string
	keys    []string
}

// connection is what has been seen of one and is not complete yet.
type connection struct {
	script  []emulator.Executed // what the running script has executed
	block   []emulator.Executed // what EXEC has executed
	watched []string
}

// NewRecorder returns a Recorder that has seen nothing.
func NewRecorder() *Recorder {
	return &Recorder{
		began: time.Now(), findings: map[string]*found{}, connections: map[int64]*connection{}, keys: map[string]int64{},
	}
}

// See takes note of a command.
func (r *Recorder) See(e emulator.Executed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands++
	for _, key := range e.Keys {
		if _, known := r.keys[key]; known || len(r.keys) < maxKeys {
			r.keys[key]++
		} else {
			r.moreKeys++
		}
	}
	conn := r.connections[e.Connection]
	if conn == nil {
		conn = &connection{}
	}
	r.judge(conn, e)
	if len(conn.script)+len(conn.block)+len(conn.watched) > 0 {
		r.connections[e.Connection] = conn
	} else {
		delete(r.connections, e.Connection)
	}
}

// judge looks at a command by itself and as a part of what surrounds it.
func (r *Recorder) judge(conn *connection, e emulator.Executed) {
	r.judgeAlone(e)
	switch {
	case e.InScript:
		if len(conn.script) < maxBlock {
			conn.script = append(conn.script, e)
		}
		return
	case runsScript(e.Command):
		r.judgeScript(e, conn.script)
		conn.script = nil
	case len(e.Keys) > 1 && e.Command != "watch" && crosses(e.Keys):
		r.add(MultiKey, e, shapeOf(e), "", e.Keys)
	}
	switch e.Command {
	case "watch":
		conn.watched = append(conn.watched, e.Keys...)
	case "unwatch", "discard", "reset":
		conn.watched, conn.block = nil, nil
	case "exec":
		r.judgeBlock(e, conn)
		conn.watched, conn.block = nil, nil
	default:
		if e.InTransaction && len(conn.block) < maxBlock {
			conn.block = append(conn.block, e)
		}
	}
}

// judgeAlone finds what is wrong with a command whatever its keys.
func (r *Recorder) judgeAlone(e emulator.Executed) {
	word := func(i int) string {
		if i < len(e.Args) {
			return e.Args[i]
		}
		return ""
	}
	switch e.Command {
	case "select":
		if word(1) != "0" {
			r.add(Database, e, "SELECT "+word(1), word(1), nil)
		}
	case "swapdb", "move":
		r.add(Database, e, strings.ToUpper(e.Command), "", e.Keys)
	case "copy":
		if slices.ContainsFunc(e.Args[3:], func(w string) bool { return strings.EqualFold(w, "db") }) {
			r.add(Database, e, "COPY … DB", "", e.Keys)
		}
	case "keys", "scan":
		shape := strings.ToUpper(e.Command)
		if pattern := scanned(e); pattern != "" {
			shape += " " + patternOf(pattern)
		}
		r.add(OneNode, e, inScript(e, shape), e.Command, nil)
	case "flushall", "flushdb", "randomkey", "dbsize":
		r.add(OneNode, e, inScript(e, strings.ToUpper(e.Command)), e.Command, nil)
	case "publish":
		f := r.add(PubSub, e, "PUBLISH "+patternOf(word(1)), "", nil)
		f.addBytes(len(word(2)))
	case "subscribe", "psubscribe":
		r.add(PubSub, e, strings.ToUpper(e.Command)+" "+patternOf(word(1)), "", nil)
	case "sort", "sort_ro":
		if by := sortPattern(e.Args[2:]); by != "" {
			r.add(SortPattern, e, strings.ToUpper(e.Command)+" "+by, "", e.Keys)
		}
	}
}

// scanned is the pattern that KEYS or SCAN asks for.
func scanned(e emulator.Executed) string {
	if e.Command == "keys" {
		return e.Args[1]
	}
	for i := 2; i+1 < len(e.Args); i++ {
		if strings.EqualFold(e.Args[i], "match") {
			return e.Args[i+1]
		}
	}
	return ""
}

func inScript(e emulator.Executed, shape string) string {
	if e.InScript {
		return "in a script: " + shape
	}
	return shape
}

// sortPattern is the option by which SORT looks at other keys.
func sortPattern(options []string) string {
	for i := 0; i+1 < len(options); i++ {
		if option := strings.ToUpper(options[i]); option == "BY" || option == "GET" {
			if value := options[i+1]; strings.Contains(value, "*") {
				return option + " " + value
			}
			i++
		}
	}
	return ""
}

func runsScript(command string) bool {
	switch command {
	case "eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro":
		return true
	}
	return false
}

// judgeScript looks at a script, or function, and the commands it executed.
func (r *Recorder) judgeScript(e emulator.Executed, inner []emulator.Executed) {
	shape := scriptName(e) + keyShape(e.Keys)
	all := slices.Clone(e.Keys)
	var undeclared []string
	for _, c := range inner {
		for _, key := range c.Keys {
			if !slices.Contains(all, key) {
				all = append(all, key)
				undeclared = append(undeclared, key)
			}
		}
	}
	if crosses(all) {
		r.add(Script, e, shape, "", all)
	}
	if len(undeclared) > 0 {
		r.add(Undeclared, e, shape+" uses"+keyShape(undeclared), "", all)
	}
}

// scriptName is what a script is called in a report.
func scriptName(e emulator.Executed) string {
	name, script := strings.ToUpper(e.Command), ""
	if len(e.Args) > 1 {
		script = e.Args[1]
	}
	switch {
	case strings.HasPrefix(name, "EVALSHA"):
		return name + " " + strings.ToLower(script[:min(8, len(script))]) + "…"
	case strings.HasPrefix(name, "EVAL"):
		sum := sha1.Sum([]byte(script))
		return name + " " + hex.EncodeToString(sum[:4]) + "…"
	}
	return name + " " + script
}

// judgeBlock looks at what EXEC has executed, and at what was watched for it.
func (r *Recorder) judgeBlock(e emulator.Executed, conn *connection) {
	var keys, commands []string
	for _, c := range conn.block {
		keys = appendNew(keys, c.Keys...)
		if shape := shapeOf(c); !slices.Contains(commands, shape) {
			commands = append(commands, shape)
		}
	}
	const shown = 6
	shape := strings.Join(commands[:min(shown, len(commands))], "; ")
	if len(commands) > shown {
		shape += "; …"
	}
	if crosses(keys) {
		r.add(Transaction, e, "MULTI; "+shape+"; EXEC", "", keys)
	}
	if watched := appendNew(slices.Clone(conn.watched), keys...); len(conn.watched) > 0 && crosses(watched) {
		if crosses(conn.watched) || !crosses(keys) {
			r.add(Watch, e, "WATCH"+keyShape(conn.watched)+"; MULTI; "+shape+"; EXEC", "", watched)
		}
	}
}

func appendNew(list []string, words ...string) []string {
	for _, w := range words {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// crosses reports whether keys are in several slots.
func crosses(keys []string) bool {
	for _, key := range keys[min(1, len(keys)):] {
		if slots.OfString(key) != slots.OfString(keys[0]) {
			return true
		}
	}
	return false
}

// add counts a finding and keeps a sample of it. It returns nil when there are
// too many of them.
func (r *Recorder) add(kind Kind, e emulator.Executed, shape, detail string, keys []string) *found {
	id := string(kind) + " " + shape
	f := r.findings[id]
	if f == nil {
		if len(r.order) == maxFindings {
			r.dropped++
			return nil
		}
		f = &found{kind: kind, shape: shape, detail: detail, clients: map[string]int64{}}
		r.findings[id] = f
		r.order = append(r.order, f)
	}
	f.count++
	client := clientOf(e)
	if _, known := f.clients[client]; known || len(f.clients) < maxClients {
		f.clients[client]++
	}
	if len(f.samples) < maxSamples {
		f.samples = append(f.samples, sample{textOf(e), slices.Clone(keys)})
	}
	return f
}

// clientOf is the client's name. Those without one are told apart by their
// machine: ports are another with every connection.
func clientOf(e emulator.Executed) string {
	if at, err := netip.ParseAddrPort(e.Client); err == nil {
		return "unnamed, at " + at.Addr().String()
	}
	return e.Client
}

func (f *found) addBytes(n int) {
	if f != nil {
		f.bytes += int64(n)
	}
}

// maxText bounds, in bytes, what is shown of a command.
const maxText = 160

// textOf is a command as it is shown as an example.
func textOf(e emulator.Executed) string {
	var b strings.Builder
	for i, arg := range e.Args {
		if i > 0 {
			b.WriteByte(' ')
		}
		if arg == "" || strings.ContainsFunc(arg, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' }) {
			arg = strconv.Quote(arg)
		}
		b.WriteString(arg)
		if b.Len() > maxText {
			return fmt.Sprintf("%s…", b.String()[:maxText])
		}
	}
	return b.String()
}
