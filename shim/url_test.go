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
		"redis://bot:1?s3cret@host", "redis://bot:s3cret@host:6379?dial_timeout=s3cret", "s3cret", "", "://s3cret",
	} {
		o, err := ParseURL(text)
		if err == nil && !strings.Contains(text, "#") {
			t.Errorf("%q is %+v", text, o)
		}
		if err != nil && (!errors.Is(err, ErrURL) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseURL("redis://host:1?retries=2"); err == nil || !strings.HasSuffix(err.Error(), "unexpected option: retries") {
		t.Errorf("an option that does not exist: %v", err)
	}
}
