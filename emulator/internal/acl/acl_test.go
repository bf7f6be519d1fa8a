package acl

import (
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

func words(s string) [][]byte {
	var args [][]byte
	for _, w := range strings.Fields(s) {
		args = append(args, []byte(w))
	}
	return args
}

// Each line's answer is that of redis-server 7.0.15.
func TestDescriptions(t *testing.T) {
	for _, test := range []struct{ rules, want string }{
		{"", "user bob off resetchannels -@all"},
		{"reset", "user bob off sanitize-payload resetchannels -@all"},
		{"+@all -@write", "user bob off resetchannels +@all -@write"},
		{"+@all -get", "user bob off resetchannels +@all -get"},
		{"+@read +@write -set", "user bob off resetchannels -@all +@read +@write -set"},
		{"+@all -config +config|get", "user bob off resetchannels +@all -config +config|get"},
		{"+@all -client|kill", "user bob off resetchannels +@all -client|kill"},
		{"+client -client|kill", "user bob off resetchannels -@all +client -client|kill"},
		{"+@all -@all +@admin -@slow", "user bob off resetchannels -@all +lastsave +role"},
		{"+select|0 +select|1", "user bob off resetchannels -@all +select|0 +select|1"},
		{"+select|0 +select", "user bob off resetchannels -@all +select"},
		{"on nopass ~a* %R~b* %W~c* %RW~d* &ch*", "user bob on nopass ~a* %R~b* %W~c* ~d* resetchannels &ch* -@all"},
		{"%r~foo %w~foo %R", "user bob off ~foo %R~ resetchannels -@all"},
		{"(+set ~x &y) (%R~z -@all +@read) ()", "user bob off resetchannels -@all (~x resetchannels &y -@all +set) (%R~z resetchannels -@all +@read) (resetchannels -@all)"},
		{"(+get) clearselectors allkeys allchannels allcommands", "user bob off ~* &* +@all"},
		{">pw >pw", "user bob off #30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4 resetchannels -@all"},
		{">pw <pw skip-sanitize-payload", "user bob off skip-sanitize-payload resetchannels -@all"},
	} {
		us := NewUsers(command.NewTable(version.V7_0))
		u, _, err := us.Set("bob", words(test.rules))
		if err != nil {
			t.Errorf("%q: %v", test.rules, err)
			continue
		}
		if got := u.Describe(); got != test.want {
			t.Errorf("%q\n is  %s\nwant %s", test.rules, got, test.want)
		}
	}
}

// Redis 7.2 keeps the rules as they were given, less those that later ones
// replace, and always says whether payloads are sanitized.
func TestDescriptionsSince72(t *testing.T) {
	for _, test := range []struct{ rules, want string }{
		{"on >pw ~k:* +get %R~x &ch:* -@all +@read", "user bob on sanitize-payload #30c952fab122c3f9759f02a6d95c3758b246b4fee239957b2d4fee46e26170c4 ~k:* %R~x resetchannels &ch:* -@all +@read"},
		{"+get +set -get", "user bob off sanitize-payload resetchannels -@all +set -get"},
		{"+config|get +config|set -config", "user bob off sanitize-payload resetchannels -@all -config"},
	} {
		us := NewUsers(command.NewTable(version.V7_2))
		u, _, err := us.Set("bob", words(test.rules))
		if err != nil {
			t.Fatal(err)
		}
		if got := u.Describe(); got != test.want {
			t.Errorf("%q\n is  %s\nwant %s", test.rules, got, test.want)
		}
	}
}

func TestRefusedRulesChangeNothing(t *testing.T) {
	for _, test := range []struct{ rules, want string }{
		{"+foo", "ERR Error in ACL SETUSER modifier '+foo': Unknown command or category name in ACL"},
		{"+@foo", "ERR Error in ACL SETUSER modifier '+@foo': Unknown command or category name in ACL"},
		{"+config|get|x", "ERR Error in ACL SETUSER modifier '+config|get|x': Allowing first-arg of a subcommand is not supported"},
		{"+select|", "ERR Error in ACL SETUSER modifier '+select|': Syntax error"},
		{"-select|0", "ERR Error in ACL SETUSER modifier '-select|0': Unknown command or category name in ACL"},
		{"nonsense", "ERR Error in ACL SETUSER modifier 'nonsense': Syntax error"},
		{"~* ~a", "ERR Error in ACL SETUSER modifier '~a': " + errAfterAllKeys.Error()},
		{"&* &a", "ERR Error in ACL SETUSER modifier '&a': " + errAfterAllChans.Error()},
		{"<nosuch", "ERR Error in ACL SETUSER modifier '<nosuch': The password you are trying to remove from the user does not exist"},
		{"#abc", "ERR Error in ACL SETUSER modifier '#abc': " + errHash.Error()},
		{"%X~a", "ERR Error in ACL SETUSER modifier '%X~a': Syntax error"},
		{"%~a", "ERR Error in ACL SETUSER modifier '%~a': Syntax error"},
		{"on (+get off (x)", "ERR Error in ACL SETUSER modifier '(+get off (x)': Syntax error"},
		{"on (+get", "ERR Unmatched parenthesis in acl selector starting at '(+get'."},
	} {
		us := NewUsers(command.NewTable(version.V7_0))
		if _, _, err := us.Set("bob", words("+get "+test.rules)); err == nil || err.Error() != test.want {
			t.Errorf("%q: error %v, want %s", test.rules, err, test.want)
		}
		if us.Get("bob") != nil {
			t.Errorf("%q: the user was created", test.rules)
		}
	}
}

func TestCheck(t *testing.T) {
	const rules = "on ~app:* %R~shared:* &news:* +@read +set +del +publish +subscribe +psubscribe +select|0 -hgetall (~other:* +incr)"
	table := command.NewTable(version.V7_0)
	u, _, err := NewUsers(table).Set("bob", words(rules))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		command string
		denial  Denial
		pos     int
	}{
		{"get app:1", Allowed, 0},
		{"get shared:1", Allowed, 0},
		{"set app:1 v", Allowed, 0},
		{"set shared:1 v", DeniedKey, 1},
		{"set shared:1 v get", DeniedKey, 1},
		{"mget app:1 shared:1 private", DeniedKey, 3},
		{"del app:1 other:2", DeniedKey, 2},
		{"hgetall app:1", DeniedCommand, 0},
		{"incr other:1", Allowed, 0},
		{"incr app:1", DeniedKey, 1},
		{"select 0", Allowed, 0},
		{"select 1", DeniedCommand, 0},
		{"publish news:1 x", Allowed, 0},
		{"publish other x", DeniedChannel, 1},
		{"subscribe news:1 other", DeniedChannel, 2},
		{"psubscribe news:*", Allowed, 0},
		{"psubscribe news:a*", DeniedChannel, 1},
		{"auth x", Allowed, 0},
		{"config get x", DeniedCommand, 0},
	} {
		args := words(test.command)
		if d, pos := u.Check(table.Lookup(args), args); d != test.denial || pos != test.pos {
			t.Errorf("%s: %v at %d, want %v at %d", test.command, d, pos, test.denial, test.pos)
		}
	}
}

func TestPasswords(t *testing.T) {
	us := NewUsers(command.NewTable(version.V7_0))
	if us.Authenticate("default", []byte("anything")) == nil {
		t.Error("a user without a password refused one")
	}
	us.SetDefaultPassword("secret")
	if us.Authenticate("default", []byte("anything")) != nil || us.Authenticate("default", []byte("secret")) == nil {
		t.Error("the default user's password does not count")
	}
	if _, _, err := us.Set("bob", words(">one >two")); err != nil {
		t.Fatal(err)
	}
	if us.Authenticate("bob", []byte("one")) != nil {
		t.Error("a user who is off could log in")
	}
	if _, _, err := us.Set("bob", words("on <one")); err != nil {
		t.Fatal(err)
	}
	if us.Authenticate("bob", []byte("one")) != nil || us.Authenticate("bob", []byte("two")) == nil {
		t.Error("removing a password did not leave the other")
	}
	if us.Authenticate("nobody", nil) != nil {
		t.Error("a user that does not exist could log in")
	}
}
