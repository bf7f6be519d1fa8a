// Package acl holds the users of a node and what they may do: passwords, and
// selectors of commands, keys and channels, written in the rules of ACL SETUSER.
//
// The one idea: a rule changes a set of bits, one per row of the command table,
// so that a check is a look at one bit, and what ACL LIST prints is found again
// from the bits as Redis does.
package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// User is one user. Clients keep a pointer to theirs: changes are made in place.
type User struct {
	Name string
	// Enabled is set unless the user is "off".
	Enabled bool
	// NoPass is set when every password is right.
	NoPass bool

	sanitize  sanitizing
	passwords []string    // SHA-256 in hexadecimal
	selectors []*Selector // the first is the user's own, the others are in parentheses
	table     *command.Table
	// unlimited is set when the user may do everything: most users of most
	// nodes, who are to cost nothing.
	unlimited bool
}

// sanitizing is whether payloads of RESTORE are to be checked.
type sanitizing uint8

const (
	sanitizeUnsaid sanitizing = iota // since 7.2 as good as sanitizeYes
	sanitizeYes
	sanitizeSkip
)

// newUser returns a user that may do nothing, except to listen to channels when
// acl-pubsub-default says so.
func newUser(name string, t *command.Table, allChannels bool) *User {
	u := &User{Name: name, table: t, selectors: []*Selector{newSelector(t, allChannels)}}
	if t.Version.AtLeast(7, 2) {
		u.sanitize = sanitizeYes
	}
	return u
}

// Unlimited reports whether nothing is forbidden to the user.
func (u *User) Unlimited() bool { return u.unlimited }

// OpenToAll reports whether a client needs no password to be this user.
func (u *User) OpenToAll() bool { return u.Enabled && u.NoPass }

// Selectors returns the user's own permissions and then the additional ones.
func (u *User) Selectors() []*Selector { return u.selectors }

// Passwords returns the SHA-256 of each password in hexadecimal.
func (u *User) Passwords() []string { return u.passwords }

func (u *User) clone() *User {
	copied := *u
	copied.passwords = slices.Clone(u.passwords)
	copied.selectors = make([]*Selector, len(u.selectors))
	for i, s := range u.selectors {
		copied.selectors[i] = s.clone()
	}
	return &copied
}

// settle derives unlimited.
func (u *User) settle() {
	root := u.selectors[0]
	u.unlimited = root.allCommands && root.allKeys && root.allChannels
}

// accepts compares password with all of the user's in time that does not
// depend on it.
func (u *User) accepts(password []byte) bool {
	if !u.Enabled {
		return false
	}
	if u.NoPass {
		return true
	}
	hash, found := []byte(hashPassword(password)), 0
	for _, p := range u.passwords {
		found |= subtle.ConstantTimeCompare(hash, []byte(p))
	}
	return found == 1
}

func hashPassword(password []byte) string {
	sum := sha256.Sum256(password)
	return hex.EncodeToString(sum[:])
}

// Flags lists what ACL GETUSER calls flags.
func (u *User) Flags() []string {
	flags := []string{"off"}
	if u.Enabled {
		flags[0] = "on"
	}
	if u.NoPass {
		flags = append(flags, "nopass")
	}
	switch u.sanitize {
	case sanitizeYes:
		flags = append(flags, "sanitize-payload")
	case sanitizeSkip:
		flags = append(flags, "skip-sanitize-payload")
	}
	return flags
}

// Describe is the user's line in ACL LIST.
func (u *User) Describe() string {
	words := append([]string{"user", u.Name}, u.Flags()...)
	for _, p := range u.passwords {
		words = append(words, "#"+p)
	}
	for i, s := range u.selectors {
		if i == 0 {
			words = append(words, s.describe())
		} else {
			words = append(words, "("+s.describe()+")")
		}
	}
	return strings.Join(words, " ")
}

// Users are the users of a node.
type Users struct {
	table  *command.Table
	byName map[string]*User
	// AllChannels is acl-pubsub-default: what new users may listen to.
	AllChannels bool
}

// NewUsers returns the users of a new node: "default", who may do everything
// without a password.
func NewUsers(t *command.Table) *Users {
	us := &Users{table: t, byName: map[string]*User{}, AllChannels: !t.Version.AtLeast(7, 0)}
	u := newUser("default", t, true)
	u.Enabled, u.NoPass = true, true
	u.selectors[0].allowAllCommands()
	u.selectors[0].allKeys = true
	u.settle()
	us.byName["default"] = u
	return us
}

// Default is the user of clients that have not said who they are.
func (us *Users) Default() *User { return us.byName["default"] }

// Get returns a user by name, or nil.
func (us *Users) Get(name string) *User { return us.byName[name] }

// List returns the users by name.
func (us *Users) List() []*User {
	list := make([]*User, 0, len(us.byName))
	for _, u := range us.byName {
		list = append(list, u)
	}
	slices.SortFunc(list, func(a, b *User) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Delete removes a user and returns it, or nil if there was none.
func (us *Users) Delete(name string) *User {
	u := us.byName[name]
	delete(us.byName, name)
	return u
}

// Authenticate returns the user of that name if it may log in with password,
// else nil.
func (us *Users) Authenticate(name string, password []byte) *User {
	if u := us.byName[name]; u != nil && u.accepts(password) {
		return u
	}
	return nil
}

// SetDefaultPassword makes password the only one of the default user, or lets
// everybody in when it is empty: requirepass.
func (us *Users) SetDefaultPassword(password string) {
	u := us.Default()
	u.passwords, u.NoPass = nil, password == ""
	if password != "" {
		u.passwords = []string{hashPassword([]byte(password))}
	}
}

func (us *Users) version() version.Version { return us.table.Version }
