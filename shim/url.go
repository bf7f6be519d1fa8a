package shim

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrURL says that text is not a URL of a Redis server.
var ErrURL = errors.New("not a URL like redis://user:password@host:6379/0, where / @ ? # % in a password are written %2F %40 %3F %23 %25")

// ParseURL is redis.ParseURL whose errors repeat nothing of the text, which may
// hold a password: which of its parts that is cannot be told where it is wrong.
// They are ErrURL, and name the scheme or the option that is not known.
func ParseURL(text string) (*redis.Options, error) {
	o, err := redis.ParseURL(text)
	if err == nil {
		return o, nil
	}
	u, broken := url.Parse(text)
	if broken != nil {
		return nil, ErrURL
	}
	switch u.Scheme {
	case "redis", "rediss", "unix":
		option, found := strings.CutPrefix(err.Error(), "redis: unexpected option: ")
		if found && !strings.Contains(u.RawQuery, "@") { // else it is what follows a ? in a password
			return nil, fmt.Errorf("%w: unexpected option: %s", ErrURL, option)
		}
		return nil, ErrURL
	}
	return nil, fmt.Errorf("%w: its scheme is neither redis nor rediss nor unix", ErrURL)
}
