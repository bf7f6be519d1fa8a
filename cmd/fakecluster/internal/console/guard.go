package console

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard keeps out who has no business here. A page of another site that the
// user visits can make the browser send requests to loopback, too: those are
// told by where they come from, and by the name they were sent to when that
// site has made its own name point here (DNS rebinding).
type guard struct {
	token string
	hosts []string
}

func (g guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if p := g.refusal(r); p.Status != 0 {
			if p.Status == http.StatusUnauthorized {
				h.Set("WWW-Authenticate", "Bearer")
			}
			p.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refusal is why a request is not served; its Status is 0 if it is.
func (g guard) refusal(r *http.Request) problem {
	shown := g.token != "" && subtle.ConstantTimeCompare([]byte(bearer(r)), []byte(g.token)) == 1
	switch {
	// Who has the token was given it: no other site's page was.
	case !shown && !g.known(r.Host):
		return problem{Status: http.StatusMisdirectedRequest, Title: "unknown host", Detail: "this console is not " + r.Host + ": use localhost or an address, or show the token"}
	case foreign(r):
		return problem{Status: http.StatusForbidden, Title: "cross-origin request", Detail: "pages of other sites may not use this API"}
	case g.token != "" && !shown && secret(r.URL.Path):
		return problem{Status: http.StatusUnauthorized, Title: "token required", Detail: "send the header Authorization: Bearer with the token of --http-token"}
	}
	return problem{}
}

// secret reports whether a path says something of the cluster. The page's own
// files do not.
func secret(path string) bool { return strings.HasPrefix(path, "/api/") || path == "/metrics" }

func bearer(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// known reports whether nobody can have made a host name point here: it is an
// address, localhost or one that the console was told.
func (g guard) known(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || net.ParseIP(name) != nil || slices.Contains(g.hosts, name)
}

// foreign reports whether a page of another origin sent a request. To follow a
// link to the page is no such thing.
func foreign(r *http.Request) bool {
	if r.URL.Path == "/" && r.Method == http.MethodGet {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}
