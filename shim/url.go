package shim

import (
	"errors"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrURL says that text is neither a URL nor, where one will do, an address of a
// Redis server.
var ErrURL = errors.New("not a URL like redis://user:password@host:6379/0, where / @ ? # % in a password are written %2F %40 %3F %23 %25")

// ParseURL is redis.ParseURL whose errors, all of them ErrURL, repeat nothing of
// the text: it may hold a password, and which of its parts that is cannot be told
// where it is wrong. What a / ? or # in a password makes of it is refused, too,
// since a part of the password would be taken for a host, which others repeat.
func ParseURL(text string) (*redis.Options, error) {
	u, err := url.Parse(text)
	if err != nil || u.Fragment != "" || strings.Contains(u.Path+u.RawQuery, "@") {
		return nil, ErrURL
	}
	o, err := redis.ParseURL(text)
	if err != nil {
		return nil, ErrURL
	}
	return o, nil
}

// ParseNode is ParseURL for text that may also be an address, host:port.
func ParseNode(text string) (*redis.Options, error) {
	if strings.Contains(text, "://") {
		return ParseURL(text)
	}
	if strings.Contains(text, "@") { // an address is repeated by who cannot reach it
		return nil, ErrURL
	}
	return &redis.Options{Addr: text}, nil
}
