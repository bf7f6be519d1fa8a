package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Rules of trust that no run of a program would show broken.

// guarded are the functions that let in who knows a secret.
var guarded = map[string]string{
	"accepts": "../../emulator/internal/acl/user.go",
	"refusal": "../../cmd/fakecluster/internal/console/guard.go",
}

// How long a wrong secret takes to be refused must not tell how much of it was
// right.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	for name, file := range guarded {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if function := functionNamed(parsed, name); function == nil || !calls(function, "subtle.ConstantTimeCompare") {
			t.Errorf("%s: %s does not call subtle.ConstantTimeCompare", file, name)
		}
	}
	rooms := []string{"emulator/internal/acl", "emulator/internal/server", "cmd/fakecluster/..."}
	sources(t, func(pkg, file string) {
		if !matchesAny(rooms, pkg) {
			return
		}
		for _, leak := range hastyComparisons(t, file, nil) {
			t.Errorf("%s: %s compares a secret byte by byte", file, leak)
		}
	})
}

func functionNamed(file *ast.File, name string) *ast.FuncDecl {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
			return f
		}
	}
	return nil
}

// calls reports whether a function calls another, "pkg.Name".
func calls(in *ast.FuncDecl, name string) (found bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && textOf(call.Fun) == name
		return true
	})
	return found
}

var (
	secretName = regexp.MustCompile(`(?i)passw|token|secret|bearer|hash$`)
	hasty      = []string{"bytes.Equal", "bytes.Compare", "strings.EqualFold", "strings.Compare", "slices.Equal"}
)

// hastyComparisons lists where a secret, by its name, is compared with anything
// but a constant in a way that ends at the first difference.
func hastyComparisons(t *testing.T, file string, source any) (found []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if equality := n.Op == token.EQL || n.Op == token.NEQ; equality && !constant(n.X) && !constant(n.Y) && (secret(n.X) || secret(n.Y)) {
				found = append(found, textOf(n.X)+" "+n.Op.String()+" "+textOf(n.Y))
			}
		case *ast.CallExpr:
			if name := textOf(n.Fun); slices.Contains(hasty, name) && slices.ContainsFunc(n.Args, secret) {
				found = append(found, name)
			}
		}
		return true
	})
	return found
}

// secret reports whether the last word of an expression names one.
func secret(e ast.Expr) bool {
	text := textOf(e)
	return secretName.MatchString(text[strings.LastIndexByte(text, '.')+1:])
}

func constant(e ast.Expr) bool {
	_, literal := e.(*ast.BasicLit)
	return literal || textOf(e) == "nil"
}

// textOf is an expression's name, with that of what it is taken from or called.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return textOf(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		if conversion := textOf(e.Fun); len(e.Args) == 1 && (conversion == "string" || conversion == "") {
			return textOf(e.Args[0])
		}
		return textOf(e.Fun)
	case *ast.ParenExpr:
		return textOf(e.X)
	case *ast.IndexExpr:
		return textOf(e.X)
	}
	return ""
}

func TestHastyComparisons(t *testing.T) {
	for expression, want := range map[string]int{
		`password == ""`: 0, `u.password != nil`: 0, `g.token == shown`: 1, `string(password) == p`: 1,
		`hashPassword(p) != known`: 1, `bearer(r) == x`: 1, `bytes.Equal(a, u.Hash)`: 1, `bytes.Equal(a, b)`: 0,
		`a == b`: 0, `func() error { return nil }() != err`: 0, `subtle.ConstantTimeCompare(token, b) == 1`: 0,
	} {
		source := "package p\nvar _ = " + expression + "\n"
		if found := hastyComparisons(t, "p.go", source); len(found) != want {
			t.Errorf("%s: found %q, want %d", expression, found, want)
		}
	}
}

// A package whose tests leave a goroutine behind would not be noticed without.
func TestEveryPackageLooksForLeakedGoroutines(t *testing.T) {
	looks := make(map[string]bool)
	testFiles(t, func(pkg, file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		main := functionNamed(parsed, "TestMain")
		looks[pkg] = looks[pkg] || main != nil && (calls(main, "goleak.VerifyTestMain") || calls(main, "goleak.Find"))
	})
	for pkg, ok := range looks {
		if !ok {
			t.Errorf("the tests of %s do not look for leaked goroutines: give them a TestMain with goleak.VerifyTestMain", pkg)
		}
	}
	if len(looks) < 30 {
		t.Errorf("only %d packages with tests were seen", len(looks))
	}
}

// placeless are locks outside the order of emulator/internal/lock: control's is
// taken before all of that, and nothing of the emulator is called under lua's.
var placeless = []string{"emulator/internal/lock", "emulator/control", "lua/..."}

func TestLocksHaveAPlaceInTheOrder(t *testing.T) {
	sources(t, func(pkg, file string) {
		if !matchesAny([]string{"emulator/...", "lua/...", "slots"}, pkg) || matchesAny(placeless, pkg) {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && (textOf(s) == "sync.Mutex" || textOf(s) == "sync.RWMutex") {
				t.Errorf("%s: %s has no place in the order of locks: use emulator/internal/lock", path.Base(filepath.ToSlash(file)), textOf(s))
			}
			return true
		})
	})
}
