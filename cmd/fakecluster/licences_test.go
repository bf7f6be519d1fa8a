package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is one that go list -json tells of.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// linked are the modules that end up in the binary for any platform.
func linked(t *testing.T) []module {
	t.Helper()
	found := map[string]module{}
	for _, platform := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-json=Module", ".")
		list.Env = append(os.Environ(), "GOOS="+platform, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
		var problems bytes.Buffer
		list.Stderr = &problems
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, &problems)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			if err := d.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if m := p.Module; m != nil && !m.Main {
				found[m.Path] = *m
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b module) int { return strings.Compare(a.Path, b.Path) })
}

// licence tells a module's licence by words that only its text has.
func licence(t *testing.T, m module) string {
	t.Helper()
	for _, name := range []string{"LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING", "License", "LICENCE"} {
		text, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil {
			continue
		}
		plain := strings.Join(strings.Fields(string(text)), " ")
		has := func(words string) bool { return strings.Contains(plain, words) }
		switch {
		case has("Apache License Version 2.0"):
			return "Apache-2.0"
		case has("Permission is hereby granted, free of charge"):
			return "MIT"
		case has("Redistribution and use in source and binary forms") && has("either the name"):
			return "BSD-3-Clause"
		case has("Redistribution and use in source and binary forms"):
			return "BSD-2-Clause"
		}
		t.Fatalf("%s %s: unknown licence in %s", m.Path, m.Version, name)
	}
	t.Fatalf("%s %s has no licence", m.Path, m.Version)
	return ""
}

// TestLicences holds docs/licences.md to what the binary is made of.
// FAKECLUSTER_UPDATE=1 writes it anew.
func TestLicences(t *testing.T) {
	const file = "../../docs/licences.md"
	var b strings.Builder
	b.WriteString("# Licences of what is in the binary\n\nWritten by `make licences` from the modules that are linked into `fakecluster` on any platform.\n\n| module | version | licence |\n|---|---|---|\n")
	for _, m := range linked(t) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Path, m.Version, licence(t, m))
	}
	if os.Getenv("FAKECLUSTER_UPDATE") == "1" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Errorf("docs/licences.md is not what the binary is made of: run make licences, which writes\n%s", &b)
	}
}
