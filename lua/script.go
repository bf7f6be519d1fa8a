package lua

import (
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/lua/internal/compile"
	"github.com/fakecluster/fakecluster/lua/internal/vm"
)

// Script is a compiled EVAL script. It is immutable and may be run by any
// Runtime.
type Script struct {
	SHA    string
	Source []byte
	// Flags are those of the shebang line.
	Flags Flags
	// HasShebang tells whether the script starts with a shebang line. Without
	// one Redis runs it in its compatibility mode, which assumes nothing.
	HasShebang bool
	proto      *vm.Proto
}

// Load compiles a script. Errors are of type *Error, their text the reply.
func (r *Runtime) Load(source []byte) (*Script, error) {
	return loadScript(source, SHA1Hex(source))
}

// cache keeps compiled scripts for the whole process, so that the nodes of a
// cluster compile each script once.
var cache = struct {
	sync.Mutex
	scripts map[string]*Script
	bytes   int
}{scripts: map[string]*Script{}}

// cacheBytes bounds the source text the cache keeps alive.
const cacheBytes = 16 << 20

func loadScript(source []byte, sha string) (*Script, error) {
	cache.Lock()
	s := cache.scripts[sha]
	cache.Unlock()
	if s != nil {
		return s, nil
	}
	s, err := compileScript(string(source), sha)
	if err != nil {
		return nil, err
	}
	cache.Lock()
	defer cache.Unlock()
	if cache.bytes += len(source); cache.bytes > cacheBytes {
		clear(cache.scripts)
		cache.bytes = len(source)
	}
	cache.scripts[sha] = s
	return s, nil
}

func compileScript(text, sha string) (*Script, error) {
	s := &Script{SHA: sha, Source: []byte(text)}
	body := text
	if strings.HasPrefix(text, "#!") {
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			return nil, &Error{"ERR Invalid script shebang"}
		}
		flags, err := parseShebang(text[:end])
		if err != nil {
			return nil, err
		}
		s.HasShebang, s.Flags = true, flags
		body = text[end:] // the newline stays: lines keep their numbers
	}
	proto, err := compile.Compile(body, "@user_script", 0)
	if err != nil {
		return nil, &Error{"ERR Error compiling script (new function): " + oneLine(err.Error())}
	}
	s.proto = vm.Load(proto)
	return s, nil
}

func parseShebang(line string) (Flags, error) {
	parts, ok := splitArgs(line)
	if !ok || len(parts) == 0 {
		return 0, &Error{"ERR Invalid engine in script shebang"}
	}
	if parts[0] != "#!lua" {
		return 0, &Error{"ERR " + oneLine("Unexpected engine in script shebang: "+parts[0])}
	}
	var flags Flags
	for _, part := range parts[1:] {
		list, ok := strings.CutPrefix(part, "flags=")
		if !ok {
			return 0, &Error{"ERR " + oneLine("Unknown lua shebang option: "+part)}
		}
		if list == "" {
			continue
		}
		for _, name := range strings.Split(list, ",") {
			flag, ok := parseFlag(name)
			if !ok {
				return 0, &Error{"ERR " + oneLine("Unexpected flag in script shebang: "+name)}
			}
			flags |= flag
		}
	}
	return flags, nil
}

// oneLine makes a text fit for an error reply.
func oneLine(s string) string { return mapNewlines(strings.TrimRight(s, "\r\n")) }
