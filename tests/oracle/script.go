package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Script is a recorded list of steps from a file: one step per line, sections
// separated by lines of "---", each run from a clean state so that one
// difference does not hide the rest. A first line "# only cluster" (or
// standalone, resp2, resp3) limits where it runs.
type Script struct {
	Name     string
	Sections []Section
	only     []string
}

// Section is a part of a script that stands alone.
type Section struct {
	Line  int // of its first step
	Steps []Step
	Lines []int // of each step
}

const sectionEnd = "---"

// LoadScript reads a script.
func LoadScript(file string) (*Script, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	script := &Script{Name: strings.TrimSuffix(filepath.Base(file), ".txt")}
	var section Section
	end := func() {
		if len(section.Steps) > 0 {
			section.Line = section.Lines[0]
			script.Sections = append(script.Sections, section)
		}
		section = Section{}
	}
	for i, line := range strings.Split(string(text), "\n") {
		if only, found := strings.CutPrefix(line, "# only "); found {
			script.only = strings.Fields(only)
		}
		if strings.HasPrefix(line, sectionEnd) {
			end()
			continue
		}
		step, ok, err := parseStep(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		if ok {
			section.Steps = append(section.Steps, step)
			section.Lines = append(section.Lines, i+1)
		}
	}
	end()
	return script, nil
}

// fits reports whether the script is meant for a mode and protocol.
func (s *Script) fits(cluster, resp3 bool) bool {
	for _, word := range s.only {
		switch word {
		case "cluster":
			if !cluster {
				return false
			}
		case "standalone":
			if cluster {
				return false
			}
		case "resp2":
			if resp3 {
				return false
			}
		case "resp3":
			if !resp3 {
				return false
			}
		}
	}
	return true
}
