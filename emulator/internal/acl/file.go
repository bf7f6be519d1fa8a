package acl

import (
	"errors"
	"fmt"
	"strings"
)

// Read makes the users of an ACL file known, a line each: "user alice on
// >password ~a:* +get". Those that were known change as the file says. Of what is
// wrong all is told at once, with the file's name, in the words of ACL LOAD.
func (us *Users) Read(name, text string) error {
	seen := map[string]bool{}
	var faults strings.Builder
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "\x00") // it is a string of C
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n", r) })
		switch {
		case len(words) == 0:
		case len(words) == 1 || words[0] != "user":
			fmt.Fprintf(&faults, "%s:%d should start with user keyword followed by the username. ", name, number)
		case seen[words[1]]:
			fmt.Fprintf(&faults, "WARNING: Duplicate user '%s' found on line %d. ", words[1], number)
		default:
			seen[words[1]] = true
			for _, fault := range us.define(words[1], words[2:]) {
				fmt.Fprintf(&faults, "%s:%d: %s. ", name, number, fault)
			}
		}
	}
	if faults.Len() > 0 {
		return errors.New(faults.String() + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed")
	}
	return nil
}

// define makes a user of the rules of an ACL file. It goes on after a rule that
// is wrong, and tells of every unknown command but of the first other fault only,
// which may be the cause of those behind it.
func (us *Users) define(name string, words []string) (faults []string) {
	us.Delete(name) // the user default may be there
	var rules [][]byte
	for _, word := range words {
		rules = append(rules, []byte(word))
	}
	merged, err := us.mergeSelectors(rules)
	if err != nil {
		return []string{strings.Trim(strings.TrimPrefix(err.Error(), "ERR "), ".")}
	}
	told := false
	for _, rule := range append([]string{""}, merged...) { // a user without rules is one, too
		_, _, err := us.Set(name, [][]byte{[]byte(rule)})
		switch {
		case err == nil:
		case errors.Is(err, errUnknown):
			faults = append(faults, fmt.Sprintf("Error in applying operation '%s': %v", rule, errUnknown))
		case !told:
			told = true
			faults = append(faults, cause(err).Error())
		}
	}
	return faults
}

// cause is why a rule is wrong, without the rule, which may have a password.
func cause(err error) error {
	for under := errors.Unwrap(err); under != nil; under = errors.Unwrap(err) {
		err = under
	}
	return err
}

// File is the text of an ACL file that has the users.
func (us *Users) File() string {
	var b strings.Builder
	for _, u := range us.List() {
		b.WriteString(u.Describe() + "\n")
	}
	return b.String()
}
