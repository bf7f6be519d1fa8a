package console

import (
	"encoding/json"
	"errors"
	"net/http"
)

// problem is an error as RFC 9457 has it: application/problem+json.
type problem struct {
	Title  string `json:"title" doc:"what kind of error this is"`
	Status int    `json:"status" doc:"the HTTP status"`
	Detail string `json:"detail,omitempty" doc:"what happened, and what to do about it"`
}

func (p problem) write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and a number
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	w.Write(append(body, '\n'))
}

func badRequest(detail string) problem {
	return problem{Status: http.StatusBadRequest, Title: "bad request", Detail: detail}
}

func notFound(detail string) problem {
	return problem{Status: http.StatusNotFound, Title: "not found", Detail: detail}
}

// writeJSON answers with a value.
func writeJSON(w http.ResponseWriter, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		problem{Status: http.StatusInternalServerError, Title: "internal error", Detail: err.Error()}.write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(append(body, '\n'))
}

func (p problem) Error() string { return p.Detail }

// writeError answers with an error: a problem as it is.
func writeError(w http.ResponseWriter, err error) {
	var p problem
	if !errors.As(err, &p) {
		p = problem{Status: http.StatusInternalServerError, Title: "internal error", Detail: err.Error()}
	}
	p.write(w)
}
