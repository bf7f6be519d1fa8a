package console

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// object is a JSON object of a document.
type object = map[string]any

// openAPI serves the document made of the routes, so that it tells of what
// there is.
func (c *Console) openAPI(w http.ResponseWriter, _ *http.Request) error {
	doc := document{schemas: object{}}
	paths := object{}
	for path, operations := range c.routesByPath() {
		item := object{}
		for method, r := range operations {
			item[strings.ToLower(method)] = doc.operation(r)
		}
		paths[path] = item
	}
	root := object{
		"openapi": "3.0.3",
		"info": object{
			"title": "fakecluster", "version": "1",
			"description": "Looks at and steers a fakecluster. The verbs are those of \"fakecluster ctl\".",
		},
		"paths": paths,
	}
	components := object{"schemas": doc.schemas}
	if c.options.Token != "" {
		components["securitySchemes"] = object{"token": object{"type": "http", "scheme": "bearer"}}
		root["security"] = []any{object{"token": []string{}}}
	}
	root["components"] = components
	writeJSON(w, root)
	return nil
}

// document collects the schemas that operations refer to.
type document struct{ schemas object }

var inPath = regexp.MustCompile(`\{(\w+)\}`)

func (d document) operation(r route) object {
	media := r.media
	if media == "" {
		media = "application/json"
	}
	o := object{
		"summary":     r.summary,
		"operationId": strings.ToLower(r.method) + strings.NewReplacer("/api/v1", "", "/", "-", ".", "-", "{", "", "}", "").Replace(r.path),
		"responses": object{
			"200":     object{"description": "done", "content": object{media: object{"schema": d.schema(reflect.TypeOf(r.answer))}}},
			"default": object{"description": "not done", "content": object{"application/problem+json": object{"schema": d.schema(reflect.TypeFor[problem]())}}},
		},
	}
	if r.body != nil {
		o["requestBody"] = object{"content": object{"application/json": object{"schema": d.schema(reflect.TypeOf(r.body))}}}
	}
	var names []string
	for _, m := range inPath.FindAllStringSubmatch(r.path, -1) {
		names = append(names, m[1])
	}
	var parameters []any
	for _, p := range r.query {
		place := "query"
		if slices.Contains(names, p.name) {
			place = "path"
		}
		parameters = append(parameters, object{"name": p.name, "in": place, "required": place == "path", "description": p.help, "schema": object{"type": "string"}})
	}
	if parameters != nil {
		o["parameters"] = parameters
	}
	return o
}

// schema describes a type; structs are described once, by name.
func (d document) schema(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Uint16:
		return object{"type": "integer"}
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object"}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return object{"type": "string", "format": "date-time"}
		}
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if d.schemas[name] == nil {
			d.schemas[name] = object{} // it may contain itself
			d.schemas[name] = d.structure(t)
		}
		return object{"$ref": "#/components/schemas/" + name}
	}
	return object{"type": "string"}
}

func (d document) structure(t reflect.Type) object {
	properties, required := object{}, []string{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		schema := d.schema(field.Type)
		if help := field.Tag.Get("doc"); help != "" && schema["$ref"] == nil {
			schema["description"] = help
		}
		properties[name] = schema
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	described := object{"type": "object", "properties": properties}
	if len(required) > 0 && t != reflect.TypeFor[Words]() {
		described["required"] = required
	}
	return described
}
