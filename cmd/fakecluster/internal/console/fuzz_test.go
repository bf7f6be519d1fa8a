package console

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
	"github.com/fakecluster/fakecluster/tests/hostile"
)

// FuzzAPI asks the console whatever is written, of one without a token if nothing
// is shown to it. It never fails by itself, what it calls JSON is, and nothing is
// told or done for who shows another token than its own.
func FuzzAPI(f *testing.F) {
	for _, path := range []string{"state?view=n1", "nodes/n1", "slots/42?limit=1", "keys?match=*&type=string&cursor=0", "keys?tag=a", "key?key=a&key=b", "clients?node=n1", "commands?limit=5", "faults", "openapi.json", "events", "verbs", "keys?cursor=1:99999999999999999999"} {
		for _, authorization := range []string{"", "Bearer secret", "Bearer secrets", "secret2"} {
			f.Add("GET", path, "", "localhost", authorization)
		}
	}
	for _, body := range []string{`{"args":["n1"]}`, `{"args":["9","n2"]}`, `{}`, `[`, `{"args":[1]}`, `{"args":null,"x":1}`} {
		for _, verb := range []string{"kill", "move", "migrate", "fault", "clock", "restart"} {
			f.Add("POST", "verbs/"+verb, body, "127.0.0.1:7080", "")
			f.Add("POST", "verbs/"+verb, body, "fakecluster:7080", "Bearer secret")
			f.Add("POST", "verbs/"+verb, body, "127.0.0.1:7080", "Bearer ")
		}
	}
	f.Fuzz(func(t *testing.T, method, path, body, host, authorization string) {
		target, err := url.Parse("http://localhost/api/v1/" + path)
		if err != nil || target.Host != "localhost" {
			t.Skip()
		}
		hostile.Bound(t)
		c := emulator.RunT(t, emulator.Logger(hostile.Logger(t)))
		var controllers control.Controllers
		options := Options{Ctl: "ctl"}
		if authorization != "" {
			options.Token = "secret"
		}
		site := New(c, controllers.Of(c), options)
		defer site.watch.wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, target.String(), strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		if strings.Contains(path, "events") {
			cancel() // the stream ends when the client goes
		}
		answer := httptest.NewRecorder()
		site.Handler().ServeHTTP(answer, r)
		if answer.Code >= 500 {
			t.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
		}
		shown := slices.Contains([]string{"", "secret", "Bearer secret"}, authorization)
		if !shown && secret(target.Path) && answer.Code != http.StatusUnauthorized && answer.Code != http.StatusMisdirectedRequest {
			t.Errorf("%s %s: %d %s for who shows %q", method, path, answer.Code, answer.Body, authorization)
		}
		if strings.Contains(answer.Header().Get("Content-Type"), "json") && method != "HEAD" && !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%s %s: no JSON: %s", method, path, answer.Body)
		}
	})
}
