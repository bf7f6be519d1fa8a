package acl

import (
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// What redis-server 7.0.15 answered to ACL LOAD, and ACL LIST after that.
func TestRead(t *testing.T) {
	const unchanged = "WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
	const open = "user default on nopass ~* &* +@all\n"
	for _, c := range []struct{ text, fault, users string }{
		{"", "", open},
		{"user alice on +get\n", "", "user alice on resetchannels -@all +get\n" + open},
		{"\n  \n\tuser alice  on +get   ~a\r\n", "", "user alice on ~a resetchannels -@all +get\n" + open},
		{"user al\x00ice on\n", "", "user al off resetchannels -@all\n" + open},
		{"user alice on (+get ~x) (+set ~y)\n", "", "user alice on resetchannels -@all (~x resetchannels -@all +get) (~y resetchannels -@all +set)\n" + open},
		{"# c\nuser alice on\n", "f:1 should start with user keyword followed by the username. ", ""},
		{"user\n", "f:1 should start with user keyword followed by the username. ", ""},
		{"user alice on\nuser alice off\n", "WARNING: Duplicate user 'alice' found on line 2. ", ""},
		{"user alice on +nosuch ~a %X~b\nuser bob zzz\nfoo\n",
			"f:1: Error in applying operation '+nosuch': Unknown command or category name in ACL. f:1: Syntax error. f:2: Syntax error. f:3 should start with user keyword followed by the username. ", ""},
		{"user alice on (+get ~x) (+nosuch ~y)\n", "f:1: Error in applying operation '(+nosuch ~y)': Unknown command or category name in ACL. ", ""},
		{"user alice on >pw #zz\n", "f:1: The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters. ", ""},
	} {
		users := NewUsers(command.NewTable(version.V7_0))
		err := users.Read("f", c.text)
		switch {
		case c.fault != "":
			if err == nil || err.Error() != c.fault+unchanged {
				t.Errorf("%q: %v, want %s", c.text, err, c.fault)
			}
		case err != nil || users.File() != c.users:
			t.Errorf("%q: %v, %s want %s", c.text, err, users.File(), c.users)
		}
	}
}
