package oracle

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// The grammar says, one line per command form, which arguments a command
// takes:
//
//	LITERAL        the word itself
//	<name>         a random value of a kind (see placeholders)
//	[a | b]        nothing, or one of the alternatives
//	(a | b)        one of the alternatives
//	(a)+  (a)*     repeated one or more, none or more times
//	{[a] [b]}      the parts in random order
//
// A line may start with a weight (10 is usual) and with ! when it must not
// be mutated. "family name" and "keys type" lines head a family.

//go:embed grammar/*.txt
var grammarFiles embed.FS

// family is the commands of one file section.
type family struct {
	name    string
	keyType string // of the keys its commands prefer
	forms   []form
	weight  int // sum over forms
}

type form struct {
	weight int
	fixed  bool // not to be mutated
	body   node
}

// node is a piece of a grammar line.
type node interface {
	emit(g *Generator, out []string) []string
}

type (
	literal     string
	kindOfValue string
	sequence    []node
	choice      []node
	optional    struct{ of node }
	repeat      struct {
		of  node
		min int
	}
	shuffled []node
)

func (n literal) emit(g *Generator, out []string) []string { return append(out, g.word(string(n))) }

func (n kindOfValue) emit(g *Generator, out []string) []string {
	return append(out, placeholders[string(n)](g)...)
}

func (n sequence) emit(g *Generator, out []string) []string {
	for _, part := range n {
		out = part.emit(g, out)
	}
	return out
}

func (n choice) emit(g *Generator, out []string) []string { return n[g.rnd.IntN(len(n))].emit(g, out) }

func (n optional) emit(g *Generator, out []string) []string {
	if g.chance(0.4) {
		return n.of.emit(g, out)
	}
	return out
}

func (n repeat) emit(g *Generator, out []string) []string {
	for range n.min + g.repetitions() {
		out = n.of.emit(g, out)
	}
	return out
}

func (n shuffled) emit(g *Generator, out []string) []string {
	for _, i := range g.rnd.Perm(len(n)) {
		out = n[i].emit(g, out)
	}
	return out
}

// loadGrammar reads all families.
func loadGrammar() ([]*family, error) {
	names, err := fs.Glob(grammarFiles, "grammar/*.txt")
	if err != nil {
		return nil, err
	}
	var families []*family
	for _, name := range names {
		text, err := grammarFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		found, err := parseGrammar(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		families = append(families, found...)
	}
	return families, nil
}

func parseGrammar(text string) ([]*family, error) {
	var families []*family
	for number, line := range strings.Split(text, "\n") {
		fields := tokens(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if fields[0] == "family" && len(fields) == 2 {
			families = append(families, &family{name: fields[1], keyType: "any"})
			continue
		}
		if len(families) == 0 {
			return nil, fmt.Errorf("line %d: no family yet", number+1)
		}
		current := families[len(families)-1]
		if fields[0] == "keys" && len(fields) == 2 {
			current.keyType = fields[1]
			continue
		}
		f, err := parseForm(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number+1, err)
		}
		current.forms = append(current.forms, f)
		current.weight += f.weight
	}
	return families, nil
}

func parseForm(fields []string) (form, error) {
	f := form{weight: 10}
	if n, err := strconv.Atoi(fields[0]); err == nil {
		f.weight = n
		fields = fields[1:]
	}
	if len(fields) > 0 && fields[0] == "!" {
		f.fixed = true
		fields = fields[1:]
	}
	p := parser{fields: fields}
	f.body = p.alternatives("")
	if p.err == nil && p.at < len(fields) {
		p.err = fmt.Errorf("unexpected %q", fields[p.at])
	}
	return f, p.err
}

// tokens splits a grammar line: brackets are tokens wherever they stand, text
// in double quotes is one literal.
func tokens(line string) []string {
	var out []string
	for line = strings.TrimLeft(line, " \t"); line != ""; line = strings.TrimLeft(line, " \t") {
		end := 1
		switch {
		case line[0] == '"':
			if closing := strings.IndexByte(line[1:], '"'); closing >= 0 {
				end = closing + 2
			}
		case line[0] == ')' && len(line) > 1 && (line[1] == '+' || line[1] == '*'):
			end = 2
		case strings.IndexByte("[](){}|", line[0]) < 0:
			if end = strings.IndexAny(line, " \t[](){}|"); end < 0 {
				end = len(line)
			}
		}
		out = append(out, line[:end])
		line = line[end:]
	}
	return out
}

type parser struct {
	fields []string
	at     int
	err    error
}

// alternatives parses up to the closing bracket given, or the end.
func (p *parser) alternatives(closing string) node {
	var all choice
	var current sequence
	for p.err == nil && p.at < len(p.fields) {
		token := p.fields[p.at]
		if closing != "" && token[:1] == closing {
			break
		}
		p.at++
		if token == "|" {
			all = append(all, current)
			current = nil
			continue
		}
		current = append(current, p.item(token))
	}
	if len(all) == 0 {
		return current
	}
	return append(all, current)
}

func (p *parser) item(token string) node {
	switch token {
	case "[":
		n := optional{p.alternatives("]")}
		p.close("]")
		return n
	case "(":
		n := p.alternatives(")")
		switch p.close(")") {
		case ")+":
			return repeat{n, 1}
		case ")*":
			return repeat{n, 0}
		}
		return n
	case "{":
		parts, ok := p.alternatives("}").(sequence)
		if !ok {
			p.fail("alternatives in {}")
		}
		p.close("}")
		return shuffled(parts)
	}
	if name, found := strings.CutPrefix(token, "<"); found && strings.HasSuffix(name, ">") {
		name = strings.TrimSuffix(name, ">")
		if placeholders[name] == nil {
			p.fail(fmt.Sprintf("unknown placeholder <%s>", name))
		}
		return kindOfValue(name)
	}
	return literal(strings.Trim(token, `"`))
}

func (p *parser) close(want string) string {
	if p.at >= len(p.fields) || p.fields[p.at][:1] != want {
		p.fail("missing " + want)
		return ""
	}
	p.at++
	return p.fields[p.at-1]
}

func (p *parser) fail(message string) {
	if p.err == nil {
		p.err = fmt.Errorf("%s near %q", message, strings.Join(p.fields[max(0, p.at-3):min(p.at+1, len(p.fields))], " "))
	}
}

// familyNames lists the families in order.
func familyNames(families []*family) []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	slices.Sort(names)
	return names
}
