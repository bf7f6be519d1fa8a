package lua

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// transcript is a Sink that prints a reply the way the differential tests
// compare it: RESP, as the client of a server would see it.
type transcript struct {
	b     strings.Builder
	proto int
}

func (s *transcript) line(kind byte, text string) {
	s.b.WriteByte(kind)
	s.b.WriteString(text)
	s.b.WriteString("\r\n")
}

func (s *transcript) count(kind byte, n int) { s.line(kind, strconv.Itoa(n)) }
func (s *transcript) Status(t string)        { s.line('+', t) }
func (s *transcript) Error(t string)         { s.line('-', t) }
func (s *transcript) Int(n int64)            { s.line(':', strconv.FormatInt(n, 10)) }
func (s *transcript) Bulk(b []byte)          { s.BulkString(string(b)) }
func (s *transcript) BulkString(t string) {
	s.count('$', len(t))
	s.b.WriteString(t + "\r\n")
}

func (s *transcript) Null() {
	if s.proto == 3 {
		s.line('_', "")
	} else {
		s.line('$', "-1")
	}
}

func (s *transcript) NullArray() {
	if s.proto == 3 {
		s.line('_', "")
	} else {
		s.line('*', "-1")
	}
}
func (s *transcript) Array(n int) { s.count('*', n) }
func (s *transcript) Map(n int) {
	if s.proto == 3 {
		s.count('%', n)
	} else {
		s.count('*', 2*n)
	}
}

func (s *transcript) Set(n int) {
	if s.proto == 3 {
		s.count('~', n)
	} else {
		s.count('*', n)
	}
}

func (s *transcript) Push(n int) {
	if s.proto == 3 {
		s.count('>', n)
	} else {
		s.count('*', n)
	}
}

func (s *transcript) Double(f float64) {
	text := strconv.FormatFloat(f, 'g', 17, 64)
	switch {
	case math.IsInf(f, 1):
		text = "inf"
	case math.IsInf(f, -1):
		text = "-inf"
	case math.IsNaN(f) && math.Signbit(f):
		text = "-nan"
	case math.IsNaN(f):
		text = "nan"
	}
	if s.proto == 3 {
		s.line(',', text)
	} else {
		s.BulkString(text)
	}
}

func (s *transcript) Bool(v bool) {
	switch {
	case s.proto == 3 && v:
		s.line('#', "t")
	case s.proto == 3:
		s.line('#', "f")
	case v:
		s.Int(1)
	default:
		s.Int(0)
	}
}

func (s *transcript) BigNumber(d string) {
	if s.proto == 3 {
		s.line('(', d)
	} else {
		s.BulkString(d)
	}
}

func (s *transcript) Verbatim(format, text string) {
	if s.proto == 3 {
		s.count('=', len(text)+4)
		s.b.WriteString(format + ":" + text + "\r\n")
	} else {
		s.BulkString(text)
	}
}
func (s *transcript) Proto() int { return s.proto }

// keyspace is the fake server scripts call in tests: a handful of commands with
// replies of every shape.
type keyspace struct {
	strings map[string]string
	logged  []string
	repl    int
}

func newKeyspace() *keyspace { return &keyspace{strings: map[string]string{}} }

func (k *keyspace) Log(level int, message string) {
	k.logged = append(k.logged, fmt.Sprint(level, " ", message))
}
func (k *keyspace) SetRepl(flags int) { k.repl = flags }
func (k *keyspace) ACLCheck(args [][]byte) (allowed, known bool) {
	switch strings.ToLower(string(args[0])) {
	case "set", "get", "ping":
		return true, true
	}
	return false, false
}

func (k *keyspace) Call(args [][]byte, reply *Builder) {
	name := strings.ToUpper(string(args[0]))
	arity := func(n int) bool {
		if len(args) != n {
			reply.Error("ERR Wrong number of args calling Redis command from script")
			return false
		}
		return true
	}
	switch name {
	case "PING":
		reply.Status("PONG")
	case "ECHO":
		if arity(2) {
			reply.Bulk(args[1])
		}
	case "SET":
		if arity(3) {
			k.strings[string(args[1])] = string(args[2])
			reply.Status("OK")
		}
	case "GET":
		if !arity(2) {
			return
		}
		if v, ok := k.strings[string(args[1])]; ok {
			reply.BulkString(v)
		} else {
			reply.Null()
		}
	case "INCR":
		if !arity(2) {
			return
		}
		n, err := strconv.ParseInt(k.strings[string(args[1])]+"", 10, 64)
		if err != nil && k.strings[string(args[1])] != "" {
			reply.Error("ERR value is not an integer or out of range")
			return
		}
		k.strings[string(args[1])] = strconv.FormatInt(n+1, 10)
		reply.Int(n + 1)
	case "DEL":
		if arity(2) {
			delete(k.strings, string(args[1]))
			reply.Int(1)
		}
	case "MGET":
		reply.Array(len(args) - 1)
		for _, a := range args[1:] {
			if v, ok := k.strings[string(a)]; ok {
				reply.BulkString(v)
			} else {
				reply.Null()
			}
		}
	case "HSET", "SADD", "ZADD":
		if !arity(4) {
			return
		}
		k.strings[string(args[1])] = string(args[2]) + " " + string(args[3])
		reply.Int(1)
	case "HGETALL", "SMEMBERS", "ZSCORE":
		if len(args) < 2 {
			arity(2)
			return
		}
		k.collection(name, strings.Fields(k.strings[string(args[1])]), reply)
	case "DEBUG":
		reply.Error("ERR This Redis command is not allowed from script")
	default:
		reply.Error("ERR Unknown Redis command called from script")
	}
}

// collection answers for a hash of one field, a set of two members and a sorted
// set of one.
func (k *keyspace) collection(command string, parts []string, reply *Builder) {
	switch command {
	case "HGETALL":
		parts = parts[:len(parts)&^1]
		reply.Map(len(parts) / 2)
		for _, p := range parts {
			reply.BulkString(p)
		}
	case "SMEMBERS":
		reply.Set(len(parts))
		for _, p := range parts {
			reply.BulkString(p)
		}
	case "ZSCORE":
		if len(parts) == 0 {
			reply.Null()
			return
		}
		f, _ := strconv.ParseFloat(parts[0], 64)
		reply.Double(f)
	}
}
