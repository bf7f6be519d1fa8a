package console

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

// Every verb there is can be used over HTTP, one after the other on one cluster.
func TestEveryVerb(t *testing.T) {
	s := open(t, Options{}, emulator.Replicas(1), emulator.NodeTimeout(time.Second))
	s.do("SET", "{user}:1", "x") // slot 5474, of n2
	used := map[string]bool{}
	for _, c := range []struct{ line, says string }{
		{"help", "failover NODE"},
		{"nodes", "n2 "},
		{"view n1", "n2"},
		{"settle", "OK"},
		{"trace on", "OK"},
		{"migrate 5474 n3", "OK"},
		{"migrate-keys 5474", "1"},
		{"migrate-abort 5474", "OK"},
		{"migrate 5474 n3", "OK"},
		{"migrate-finish 5474", "OK"},
		{"move 5474 n2", "OK"},
		{"failover n2", "OK"},
		{"lag n2 10ms", "OK"},
		{"partition n1", "OK"},
		{"heal", "OK"},
		{"way n1 > n2 delay 1ms", "OK"},
		{"heal", "OK"},
		{"fault on command get error OOM", "1"},
		{"faults", "on command get error OOM"},
		{"fault-remove 1", "OK"},
		{"clock advance 1s", "OK"},
		{"pause n6", "OK"},
		{"resume n6", "OK"},
		{"kill n6", "OK"},
		{"restart n6", "OK"},
		{"add-master", "n7"},
		{"add-replica n7", "n8"},
		{"remove n8", "OK"},
		{"reset", "OK"},
	} {
		words := strings.Fields(c.line)
		used[words[0]] = true
		status, body := s.verb(words[0], words[1:]...)
		var done Done
		if err := json.Unmarshal([]byte(body), &done); status != 200 || err != nil || !strings.Contains(done.Text, c.says) {
			t.Errorf("%s: %d %s, want %q", c.line, status, body, c.says)
		}
		if want := "fakecluster ctl " + strings.ReplaceAll(c.line, " > ", " '>' "); done.Command != want {
			t.Errorf("%s is shown as %s", c.line, done.Command)
		}
	}
	for _, v := range control.Verbs() {
		if !used[v.Name] {
			t.Errorf("the verb %s is not tried", v.Name)
		}
	}
}

// The document tells of every path that answers, and of each what it answers.
func TestDocumentAgreesWithAnswers(t *testing.T) {
	s := open(t, Options{}, emulator.Replicas(1))
	s.do("SET", "{user}:1", "x")
	s.verb("trace", "on")
	s.do("GET", "{user}:1")
	s.verb("migrate", "5474", "n3")
	s.verb("fault", "on", "command", "get", "drop")
	doc := get[document3](s, "/api/v1/openapi.json")
	if !strings.HasPrefix(doc.OpenAPI, "3.0.") || doc.Info["title"] == "" || doc.Info["version"] == "" {
		t.Errorf("the document says it is %s, %v", doc.OpenAPI, doc.Info)
	}
	ids := map[string]bool{}
	for path, operations := range doc.Paths {
		for method, o := range operations {
			if ids[o.ID] || o.ID == "" || o.Summary == "" {
				t.Errorf("%s %s is %q, %q", method, path, o.ID, o.Summary)
			}
			ids[o.ID] = true
			if o.Responses["default"].Content["application/problem+json"].Schema["$ref"] != "#/components/schemas/Problem" {
				t.Errorf("%s %s says nothing of problems", method, path)
			}
		}
		o, readable := operations["get"]
		if !readable || o.Responses["200"].Content["application/json"].Schema == nil {
			continue // a verb, or the stream
		}
		if path == "/api/v1/key" {
			path += "?key=%7Buser%7D:1"
		}
		path = strings.NewReplacer("{node}", "n2", "{slot}", "5474").Replace(path)
		doc.check(t, path, o.Responses["200"].Content["application/json"].Schema, get[any](s, path))
	}
	for path := range s.console.routesByPath() {
		if doc.Paths[path] == nil {
			t.Errorf("the document lacks %s", path)
		}
	}
}

// document3 is what is read of an OpenAPI document.
type document3 struct {
	OpenAPI string
	Info    map[string]string
	Paths   map[string]map[string]struct {
		ID        string `json:"operationId"`
		Summary   string
		Responses map[string]struct {
			Content map[string]struct{ Schema map[string]any }
		}
	}
	Components struct {
		Schemas map[string]map[string]any
	}
}

// check holds a value against its schema: neither may have what the other lacks.
func (d *document3) check(t *testing.T, at string, schema map[string]any, value any) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		schema = d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]
	}
	kind := schema["type"]
	switch v := value.(type) {
	case map[string]any:
		properties, described := schema["properties"].(map[string]any)
		if kind != "object" {
			t.Errorf("%s is an object, not %v", at, kind)
		}
		for name, part := range v {
			if !described {
				continue
			}
			of, known := properties[name].(map[string]any)
			if !known {
				t.Errorf("%s.%s is not in the document", at, name)
				continue
			}
			d.check(t, at+"."+name, of, part)
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; !there {
				t.Errorf("%s lacks %v", at, name)
			}
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		if kind != "array" {
			t.Errorf("%s is an array, not %v", at, kind)
		}
		for _, element := range v {
			d.check(t, at+"[]", items, element)
		}
	default:
		fits := map[any]func() bool{
			"string":  func() bool { _, ok := value.(string); return ok },
			"boolean": func() bool { _, ok := value.(bool); return ok },
			"number":  func() bool { _, ok := value.(float64); return ok },
			"integer": func() bool { n, ok := value.(float64); return ok && n == float64(int64(n)) },
		}[kind]
		if fits == nil || !fits() {
			t.Errorf("%s is %v, not %v", at, value, kind)
		}
	}
}

// Whatever path and method somebody tries, errors are problems.
func TestErrorsAreProblems(t *testing.T) {
	s := open(t, Options{})
	methods := []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	for path, operations := range s.console.routesByPath() {
		for _, method := range methods {
			if _, served := operations[method]; served {
				continue
			}
			status, header, _ := s.request(method, path, "")
			if status != 405 || header.Get("Content-Type") != "application/problem+json" || slices.Contains(header.Values("Allow"), method) {
				t.Errorf("%s %s: %d, %s, Allow %v", method, path, status, header.Get("Content-Type"), header.Values("Allow"))
			}
		}
	}
}
