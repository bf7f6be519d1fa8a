package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/tests/hostile"
)

// FuzzParser feeds the same bytes whole and in pieces: requests, error and
// leftover must be the same, and no more memory taken than twice what came.
func FuzzParser(f *testing.F) {
	for _, sent := range limits() {
		if len(sent) < 1000 {
			f.Add([]byte(sent), uint64(1))
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte, seed uint64) {
		if len(sent) > maxLine {
			return // a line beyond the limit is only refused if it comes open
		}
		hostile.Bound(t)
		whole, pieces := NewParser(), NewParser()
		whole.Authenticated, pieces.Authenticated = seed%2 == 0, seed%2 == 0
		if err := whole.Feed(sent); err != nil {
			t.Fatal(err)
		}
		want, wantErr := drain(whole)
		var got []string
		var gotErr error
		for _, piece := range split(rand.New(rand.NewPCG(seed, 0)), sent) {
			if err := pieces.Feed(piece); err != nil {
				t.Fatal(err)
			}
			var requests []string
			requests, gotErr = drain(pieces)
			got = append(got, requests...)
			if gotErr != nil {
				break
			}
		}
		if fmt.Sprint(got, gotErr) != fmt.Sprint(want, wantErr) {
			t.Fatalf("in pieces %v, %v, whole %v, %v", got, gotErr, want, wantErr)
		}
		if gotErr == nil && pieces.Buffered() != whole.Buffered() {
			t.Fatalf("in pieces %d bytes left, whole %d", pieces.Buffered(), whole.Buffered())
		}
		if c := cap(pieces.buf); c > max(bufferStart, 2*len(sent)) {
			t.Fatalf("%d bytes taken for %d", c, len(sent))
		}
	})
}

// FuzzInline quotes words in every way there is and wants them back.
func FuzzInline(f *testing.F) {
	f.Add("PING", "a b", "")
	f.Add("ECHO", "it's \"quoted\"", "\x00\xff\\")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		hostile.Bound(t)
		hex := func(s string) string {
			var q strings.Builder
			for i := range len(s) {
				fmt.Fprintf(&q, `\x%02x`, s[i])
			}
			return `"` + q.String() + `"`
		}
		escape := func(s string) string {
			return `"` + strings.NewReplacer("\n", `\n`, "\x00", `\x00`, `"`, `\"`, `\`, `\\`).Replace(s) + `"`
		}
		single := func(s string) string {
			return "'" + strings.NewReplacer("\n", "", "\x00", "", "'", `\'`, `\`, "").Replace(s) + "'"
		}
		p := NewParser()
		if err := p.Feed([]byte(hex(a) + "\t" + escape(b) + " \v" + single(c) + "\r\n")); err != nil {
			t.Fatal(err)
		}
		args, err := p.Next()
		if err != nil || len(args) != 3 {
			t.Fatalf("got %q, %v", args, err)
		}
		plain := strings.NewReplacer("\n", "", "\x00", "", `\`, "").Replace(c)
		if string(args[0]) != a || string(args[1]) != b || string(args[2]) != plain {
			t.Errorf("got %q, want %q %q %q", args, a, b, plain)
		}
	})
}
