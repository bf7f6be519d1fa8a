package command

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// What real servers of each version state about their commands. 6.2 has no file
// of its own: it is 7.0 without what 7.0 introduced, and with STRALGO.
//
//go:embed tables/*.json
var tableFiles embed.FS

// Table is the command table of one Redis version. It is immutable and meant to
// be built once per version and shared by all nodes.
type Table struct {
	Version version.Version

	commands map[string]*Spec
	rows     []*Spec // every row, subcommands behind their container; index is Spec.ID
	hidden   map[string]*Spec
	all      []*Spec // rows and hidden; nil if nothing is hidden
}

// NewTable builds the table of a version. Rows get their handlers from this
// package's families and from more, which goes by the same names ("get",
// "client|list") and takes precedence; names the version does not know are
// ignored.
func NewTable(v version.Version, more ...map[string]Handler) *Table {
	t := &Table{Version: v, commands: make(map[string]*Spec, 256)}
	handler := func(name string) Handler {
		for i := len(more) - 1; i >= 0; i-- {
			if h := more[i][name]; h != nil {
				return h
			}
		}
		for _, family := range families {
			if h := family[name]; h != nil {
				return h
			}
		}
		return nil
	}
	for _, s := range facts(v) {
		t.add(s, handler)
	}
	return t
}

// WithHidden returns a copy of the table with further commands that clients can
// call but no list shows. Their IDs follow those of the rows.
func (t *Table) WithHidden(specs ...*Spec) *Table {
	more := *t
	more.hidden = make(map[string]*Spec, len(specs))
	more.all = slices.Clone(t.rows)
	for _, s := range specs {
		row := *s
		row.ID = len(more.rows) + len(more.hidden)
		row.prepare()
		more.hidden[row.Name] = &row
		more.all = append(more.all, &row)
	}
	return &more
}

// add puts a copy of s and its subcommands into the table.
func (t *Table) add(s *Spec, handler func(name string) Handler) {
	row := t.clone(s, handler)
	t.commands[row.Name] = row
	if s.Subcommands == nil {
		return
	}
	row.Subcommands = make(map[string]*Spec, len(s.Subcommands))
	for _, name := range sortedKeys(s.Subcommands) {
		sub := t.clone(s.Subcommands[name], handler)
		sub.Parent = row
		row.Subcommands[name] = sub
	}
}

func (t *Table) clone(s *Spec, handler func(name string) Handler) *Spec {
	row := *s
	row.ID = len(t.rows)
	if h := handler(s.Name); h != nil {
		row.Handler = h
	}
	row.prepare()
	t.rows = append(t.rows, &row)
	return &row
}

// Len is the number of rows, subcommands and hidden commands included.
func (t *Table) Len() int { return len(t.rows) + len(t.hidden) }

// Rows returns every row in the order of their IDs: sorted by name, subcommands
// behind their container. It must not be changed.
func (t *Table) Rows() []*Spec { return t.rows }

// All returns Rows and, behind them, the hidden commands. It must not be changed.
func (t *Table) All() []*Spec {
	if t.all == nil {
		return t.rows
	}
	return t.all
}

// Lookup finds the row that executes args: a command, or the subcommand of a
// container that the second word names. It returns nil if there is none.
func (t *Table) Lookup(args [][]byte) *Spec {
	s := find(t.commands, args[0])
	if s == nil {
		return find(t.hidden, args[0])
	}
	if s.Subcommands == nil || len(args) == 1 {
		return s
	}
	return find(s.Subcommands, args[1])
}

// Hidden reports whether name is that of a hidden command.
func (t *Table) Hidden(name []byte) bool { return len(t.hidden) > 0 && find(t.hidden, name) != nil }

// LookupName finds a row by its full name ("get", "client|list"), in any case.
func (t *Table) LookupName(name string) *Spec {
	command, sub, isSub := strings.Cut(name, "|")
	s := find(t.commands, []byte(command))
	if s == nil || !isSub {
		return s
	}
	return find(s.Subcommands, []byte(sub))
}

// LookupAny is LookupName that finds hidden commands too.
func (t *Table) LookupAny(name string) *Spec {
	if s := t.LookupName(name); s != nil {
		return s
	}
	return find(t.hidden, []byte(name))
}

// find looks a name up in any case without allocating.
func find(specs map[string]*Spec, name []byte) *Spec {
	if s := specs[string(name)]; s != nil {
		return s
	}
	var lower [64]byte // longer than any command's name
	if len(name) > len(lower) {
		return nil
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return specs[string(lower[:len(name)])]
}

// LookupError is the error text for args that Lookup does not know.
func (t *Table) LookupError(args [][]byte) string {
	if s := find(t.commands, args[0]); s != nil {
		return t.subcommandError(s, args[1])
	}
	const most = 128
	format, separator := "ERR unknown command '%s', with args beginning with: ", "'%s' "
	if !t.Version.AtLeast(7, 0) {
		format, separator = "ERR unknown command `%s`, with args beginning with: ", "`%s`, "
	}
	var shown strings.Builder
	for _, arg := range args[1:] {
		if shown.Len() >= most {
			break
		}
		fmt.Fprintf(&shown, separator, cString(arg, most-shown.Len()))
	}
	return oneLine(fmt.Sprintf(format, cString(args[0], most)) + shown.String())
}

func (t *Table) subcommandError(container *Spec, word []byte) string {
	format := "ERR unknown subcommand '%s'. Try %s HELP."
	if !t.Version.AtLeast(7, 0) {
		format = "ERR Unknown subcommand or wrong number of arguments for '%s'. Try %s HELP."
	}
	return oneLine(fmt.Sprintf(format, cString(word, 128), strings.ToUpper(container.Name)))
}

// ArityError is the error text for a call with a number of words that
// CheckArity refuses.
func (t *Table) ArityError(s *Spec) string {
	if !t.Version.AtLeast(7, 0) && s.Parent != nil {
		_, name, _ := strings.Cut(s.Name, "|")
		return t.subcommandError(s.Parent, []byte(name))
	}
	return "ERR wrong number of arguments for '" + s.Name + "' command"
}

// cString is what C's printf shows of b with a precision.
func cString(b []byte, most int) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b[:min(len(b), most)]
}

// oneLine keeps text that quotes a client from ending the line of an error.
func oneLine(s string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(s) }

func sortedKeys(specs map[string]*Spec) []string {
	names := make([]string, 0, len(specs))
	for name := range specs {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

var parsed = map[string]func() []*Spec{
	"7.0": sync.OnceValue(func() []*Spec { return parseTable("7.0") }),
	"7.2": sync.OnceValue(func() []*Spec { return parseTable("7.2") }),
	"7.4": sync.OnceValue(func() []*Spec { return parseTable("7.4") }),
}

// facts returns the rows of a version, by name. They are shared and must not be
// changed.
func facts(v version.Version) []*Spec {
	switch {
	case v.AtLeast(7, 4):
		return parsed["7.4"]()
	case v.AtLeast(7, 2):
		return parsed["7.2"]()
	case v.AtLeast(7, 0):
		return parsed["7.0"]()
	}
	rows := append(introducedBy(v, parsed["7.0"]()), &stralgoSpec)
	slices.SortFunc(rows, func(a, b *Spec) int { return strings.Compare(a.Name, b.Name) })
	return rows
}

// introducedBy keeps the commands and subcommands a version already had.
func introducedBy(v version.Version, rows []*Spec) []*Spec {
	var kept []*Spec
	for _, s := range rows {
		if !v.AtLeast(s.Since.Major, s.Since.Minor) {
			continue
		}
		if s.Subcommands != nil {
			older := *s
			older.Subcommands = make(map[string]*Spec)
			for name, sub := range s.Subcommands {
				if v.AtLeast(sub.Since.Major, sub.Since.Minor) {
					older.Subcommands[name] = sub
				}
			}
			s = &older
		}
		kept = append(kept, s)
	}
	return kept
}

// factRow is a command in a file of tables/.
type factRow struct {
	ACL         []string
	Arity       int
	First       int
	Last        int
	Step        int
	Flags       []string
	Group       string
	Since       string
	Tips        []string
	KeySpecs    []factKeySpec `json:"key_specs"`
	Subcommands map[string]factRow
}

type factKeySpec struct {
	Notes string
	Flags []string
	Begin struct {
		Index   *struct{ Index int }
		Keyword *struct {
			Keyword   string
			StartFrom int
		}
	}
	Find struct {
		Range  *struct{ LastKey, KeyStep, Limit int }
		KeyNum *struct{ KeyNumIdx, FirstKey, KeyStep int }
	}
}

// parseTable reads an embedded file, which a test has read before: what is wrong
// with it is a mistake of ours.
func parseTable(name string) []*Spec {
	data, err := tableFiles.ReadFile("tables/redis-" + name + ".json")
	if err != nil {
		panic(err)
	}
	var file map[string]factRow
	if err := json.Unmarshal(data, &file); err != nil {
		panic(fmt.Errorf("commands of Redis %s: %w", name, err))
	}
	rows := make(map[string]*Spec, len(file))
	for name, fact := range file {
		rows[name] = fact.spec(name)
	}
	sorted := make([]*Spec, 0, len(rows))
	for _, name := range sortedKeys(rows) {
		sorted = append(sorted, rows[name])
	}
	return sorted
}

func (f factRow) spec(name string) *Spec {
	s := &Spec{
		Name: name, Since: parseSince(f.Since), Group: f.Group, Arity: f.Arity,
		First: f.First, Last: f.Last, Step: f.Step, Tips: f.Tips,
	}
	for _, flag := range f.Flags {
		s.Flags |= flagByName(flag)
	}
	if mayReplicate[name] {
		s.Flags |= MayReplicate
	}
	for _, category := range f.ACL {
		bit, ok := Category(strings.TrimPrefix(category, "@"))
		if !ok {
			panic("unknown category " + category)
		}
		s.Categories |= bit
	}
	for _, k := range f.KeySpecs {
		s.KeySpecs = append(s.KeySpecs, k.keySpec())
	}
	if f.Subcommands != nil {
		s.Subcommands = make(map[string]*Spec, len(f.Subcommands))
		for fullName, sub := range f.Subcommands {
			_, short, _ := strings.Cut(fullName, "|")
			s.Subcommands[short] = sub.spec(fullName)
		}
	}
	return s
}

func (f factKeySpec) keySpec() KeySpec {
	k := KeySpec{Notes: f.Notes}
	for _, flag := range f.Flags {
		for i, name := range keyFlagNames {
			if name == flag {
				k.Flags |= 1 << i
			}
		}
	}
	switch {
	case f.Begin.Index != nil:
		k.Begin, k.Index = BeginIndex, f.Begin.Index.Index
	case f.Begin.Keyword != nil:
		k.Begin, k.Keyword, k.StartFrom = BeginKeyword, f.Begin.Keyword.Keyword, f.Begin.Keyword.StartFrom
	}
	switch {
	case f.Find.Range != nil:
		k.Find, k.LastKey, k.KeyStep, k.Limit = FindRange, f.Find.Range.LastKey, f.Find.Range.KeyStep, f.Find.Range.Limit
	case f.Find.KeyNum != nil:
		k.Find, k.KeyNumIdx, k.FirstKey, k.KeyStep = FindKeyNum, f.Find.KeyNum.KeyNumIdx, f.Find.KeyNum.FirstKey, f.Find.KeyNum.KeyStep
	}
	return k
}

func flagByName(name string) Flags {
	for _, f := range flagNames {
		if f.name == name {
			return f.flag
		}
	}
	panic("unknown flag " + name)
}

func parseSince(s string) version.Version {
	var v version.Version
	part := []*int{&v.Major, &v.Minor, &v.Patch}
	for i, digits := range strings.SplitN(s, ".", 3) {
		n, err := strconv.Atoi(digits)
		if err != nil {
			panic("since " + s)
		}
		*part[i] = n
	}
	return v
}
