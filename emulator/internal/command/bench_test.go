package command

import (
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/resp"
)

func BenchmarkHandlers(b *testing.B) {
	for _, line := range []string{
		"GET key:1", "SET key:1 value", "SET key:1 value EX 100", "INCR counter", "MGET key:1 key:2 key:3",
		"EXISTS key:1", "TTL key:1", "APPEND log x", "SETBIT bits 100000 1", "PFADD visitors someone", "SCAN 0",
	} {
		name, _, _ := strings.Cut(line, " ")
		if strings.Contains(line, "EX") {
			name += "-EX"
		}
		b.Run(name, func(b *testing.B) {
			l := newLocal(2)
			for i := range 10_000 {
				l.run([][]byte{[]byte("SET"), []byte("key:" + strings.Repeat("1", i%7)), []byte("value")}, false)
			}
			var args [][]byte
			for _, word := range strings.Fields(line) {
				args = append(args, []byte(word))
			}
			out := resp.NewEncoder(2)
			c := &Call{Table: l.table, Reply: out, DB: l.keyspace.DB(0)}
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				c.Reset()
				c.Args, c.Spec = args, l.table.Lookup(args)
				c.Spec.Handler(c)
				l.outcome.events = l.outcome.events[:0]
			}
		})
	}
}
