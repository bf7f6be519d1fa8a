package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/tests/freeport"
)

// Whatever it takes to talk to a node, whoever asks whether it is there is told.
func TestHealthcheck(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue(t, "server")
	for _, flags := range [][]string{
		{"--masters", "2"},
		{"--standalone"},
		{"--masters", "2", "--password", "secret"},
		{"--masters", "2", "--bind", "0.0.0.0", "--protected-mode", "no"},
		{"--masters", "2", "--tls-cert", cert, "--tls-key", key},
		{"--masters", "2", "--tls-cert", cert, "--tls-key", key, "--tls-ca", a.file},
	} {
		flags = append(flags, "--port", strconv.Itoa(freeport.InARow(t, 2)))
		if code, _, errs := ended(t, append([]string{"healthcheck"}, flags...)...); code != exitError || !strings.Contains(errs, "connection refused") {
			t.Errorf("%v, before the start: %d, %s", flags, code, errs)
		}
		r := start(t, "redis-cli", flags...)
		if code, out, errs := ended(t, append([]string{"healthcheck"}, flags...)...); code != exitOK || !strings.Contains(out, " answers") {
			t.Errorf("%v: %d, %s%s", flags, code, out, errs)
		}
		r.stop()
	}
}

// A node that was killed on purpose does not make the container unwell.
func TestHealthcheckAfterAKill(t *testing.T) {
	port := freeport.InARow(t, 3)
	start(t, "redis-cli", "--port", strconv.Itoa(port))
	if code, _, errs := ctlOutput(port+1, "kill", "n1"); code != exitOK {
		t.Fatal(errs)
	}
	code, out, errs := ended(t, "healthcheck", "--port", strconv.Itoa(port))
	if want := "127.0.0.1:" + strconv.Itoa(port+1) + " answers\n"; code != exitOK || out != want {
		t.Errorf("%d, %s%s", code, out, errs)
	}
}
