package main

import (
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// grokzen says what the image grokzen/redis-cluster understands: for a flag of
// ours its variable there, and the value if the variable is not set. They count
// only with --grokzen, and less than the flag itself and our own variable.
var grokzen = map[string]struct{ variable, initial string }{
	"masters":        {"MASTERS", "3"},
	"replicas":       {"SLAVES_PER_MASTER", "1"},
	"port":           {"INITIAL_PORT", "7000"},
	"announce-host":  {"IP", ""},
	"bind":           {"BIND_ADDRESS", "0.0.0.0"},
	"password":       {"PASSWORD", ""},
	"protected-mode": {"PROTECTED_MODE", "no"},
}

// grokzenValue is a kong.ResolverFunc: it gives flags that are not on the
// command line their value.
func grokzenValue(ctx *kong.Context, path *kong.Path, flag *kong.Flag) (any, error) {
	known, ok := grokzen[flag.Name]
	if !ok || !grokzenWanted(ctx, path) {
		return nil, nil
	}
	for _, own := range flag.Envs {
		if _, set := os.LookupEnv(own); set {
			return nil, nil
		}
	}
	value := os.Getenv(known.variable)
	if value == "" {
		value = known.initial
	}
	if flag.Name == "announce-host" && value == "0.0.0.0" {
		value = "127.0.0.1" // what the image announces then, over loopback
	}
	if value == "" {
		return nil, nil
	}
	return value, nil
}

// grokzenWanted reports whether --grokzen or its variable is set.
func grokzenWanted(ctx *kong.Context, path *kong.Path) bool {
	for _, flag := range path.Flags {
		if flag.Name == "grokzen" {
			wanted, _ := ctx.FlagValue(flag).(bool)
			return wanted
		}
	}
	return false
}

// grokzenStandalone reports whether two plain servers are wanted behind the
// cluster.
func grokzenStandalone() bool { return strings.EqualFold(os.Getenv("STANDALONE"), "true") }
