package console

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

// A request's body has so many bytes at most, and so long to come.
const (
	maxBody  = 64 << 10
	bodyTime = 10 * time.Second
)

// withWholeBody hands on requests whose body has come. Who announces one and keeps
// it back would hold a connection for ever otherwise, also by what is read of it
// after the answer, refusals too; how long the answer takes does not count.
func withWholeBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		connection := http.NewResponseController(w)
		connection.SetReadDeadline(time.Now().Add(bodyTime)) // which a test's recorder does not know
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			unread(err).write(w)
			return
		}
		connection.SetReadDeadline(time.Time{})
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// unread is what is said of a body that could not be read.
func unread(err error) problem {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return problem{Status: http.StatusRequestEntityTooLarge, Title: "too large", Detail: err.Error()}
	}
	return problem{Status: http.StatusRequestTimeout, Title: "no whole request", Detail: "the body: " + err.Error()}
}
