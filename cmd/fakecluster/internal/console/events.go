package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
)

// feedBurst bounds how many commands a viewer is told at once: more cannot be
// read anyway.
const feedBurst = 100

// events tells a viewer the state and the commands since the last time, as
// server-sent events named "state" and "commands".
func (c *Console) events(w http.ResponseWriter, r *http.Request) error {
	view, f := r.FormValue("view"), filterOf(r)
	if view != "" && c.nodeNamed(view) == nil {
		return notFound("there is no node " + view)
	}
	defer c.watch.join()()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	var told *emulator.Trace // what has been told of
	seen := 0
	for {
		s, changed := c.watch.news()
		if s != nil {
			st, err := c.state(s, view)
			if err != nil { // the node was removed: the viewer asks again
				return nil
			}
			if send(w, out, "state", st) != nil {
				return nil
			}
		}
		if trace, _ := c.controller.Trace(); trace != nil {
			if trace != told {
				told, seen = trace, 0
			}
			newer, total := trace.Since(seen)
			seen = total
			if commands := latest(newer, f, feedBurst); len(commands) > 0 {
				if send(w, out, "commands", commands) != nil {
					return nil
				}
			}
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-changed:
		}
	}
}

// send writes an event within a time that a viewer who reads needs.
func send(w http.ResponseWriter, out *http.ResponseController, name string, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := out.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, body); err != nil {
		return err
	}
	return out.Flush()
}
