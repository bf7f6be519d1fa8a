package main

import (
	"net"
	"os"
	"strconv"
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
	if flag.Name == "announce-host" {
		switch value {
		case "0.0.0.0":
			value = "127.0.0.1" // what the image announces then, over loopback
		case "":
			value = ownAddress()
		}
	}
	if value == "" {
		return nil, nil
	}
	return value, nil
}

// ownAddress is the first address of this machine, or container, that others
// reach it at, as hostname -I tells it; "" without a network.
func ownAddress() string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range addrs {
		if own, ok := a.(*net.IPNet); ok && own.IP.To4() != nil && own.IP.IsGlobalUnicast() {
			return own.IP.String()
		}
	}
	return ""
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

// grokzenStandalone is how many plain servers are wanted behind the cluster:
// STANDALONE=true asks for two.
func grokzenStandalone() (int, error) {
	value := os.Getenv("STANDALONE")
	switch {
	case value == "" || strings.EqualFold(value, "false"):
		return 0, nil
	case strings.EqualFold(value, "true"):
		return 2, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 0, usagef("STANDALONE=%s is neither true nor a number of servers", value)
	}
	return n, nil
}

// grokzenSentinel reports whether the image would start sentinels too, which
// there are none of here.
func grokzenSentinel() bool { return strings.EqualFold(os.Getenv("SENTINEL"), "true") }
