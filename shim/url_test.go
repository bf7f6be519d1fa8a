package shim

import (
	"errors"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	o, err := ParseURL("rediss://bot:s3%2Fcret@example.test:7000/2")
	if err != nil || o.Addr != "example.test:7000" || o.Username != "bot" || o.Password != "s3/cret" || o.DB != 2 || o.TLSConfig == nil {
		t.Errorf("%+v, %v", o, err)
	}
	for _, text := range []string{
		"redis://bot:s3cret@host:port/0", "redis://bot:s3cret@host:6379/s3cret", "redis://bot:12/s3cret@host:6379", "redis://bot:s3cret/x@host",
		"s3cret://s3cret@host", "bot:s3cret@host:6379", "redis://bot:s3cret%zz@host", "redis://bot:s3cret@host\n", "redis://:s3cret#x@host:1?db=s3cret",
		"redis://bot:1?s3cret@host", "redis://bot:s3cret@host:6379?dial_timeout=s3cret", "s3cret", "", "://s3cret", "redis://bot:12?s3cret#x@host",
		"redis://host:1?password=a&s3cret", "redis://bot:1?s3cret%40host", "redis://s3cret#x@host", "unix://bot:12/s3cret@/run/r.sock",
	} {
		if o, err := ParseURL(text); !errors.Is(err, ErrURL) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %+v, %v", text, o, err)
		}
	}
}

func TestParseNode(t *testing.T) {
	for text, addr := range map[string]string{"127.0.0.1:7000": "127.0.0.1:7000", "redis://:x@host:1": "host:1", "bot:s3cret@127.0.0.1:7000": ""} {
		o, err := ParseNode(text)
		if addr == "" && errors.Is(err, ErrURL) {
			continue
		}
		if err != nil || o.Addr != addr {
			t.Errorf("%q: %+v, %v", text, o, err)
		}
	}
}
