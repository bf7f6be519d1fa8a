package command

// KeyFlags say what a command does with a key.
type KeyFlags uint16

// The flags, by the names COMMAND GETKEYSANDFLAGS prints.
const (
	KeyRO            KeyFlags = 1 << iota // RO: the value is read only
	KeyRW                                 // RW: read and modified
	KeyOW                                 // OW: overwritten
	KeyRM                                 // RM: deleted
	KeyAccess                             // access: data of the value is returned or copied
	KeyUpdate                             // update: data of the value is changed
	KeyInsert                             // insert: data is added, none is changed
	KeyDelete                             // delete: data is removed
	KeyNotKey                             // not_key: not a key though it routes like one
	KeyIncomplete                         // incomplete: the spec may miss keys
	KeyVariableFlags                      // variable_flags: arguments decide the flags
)

// keyFlagNames are the flags in the order they are printed; a flag's bit is its
// index.
var keyFlagNames = []string{
	"RO", "RW", "OW", "RM", "access", "update", "insert", "delete",
	"not_key", "incomplete", "variable_flags",
}

// BeginKind is how a key spec finds where keys begin.
type BeginKind uint8

// FindKind is how a key spec finds the keys from there.
type FindKind uint8

// The kinds of COMMAND INFO; the zero value is "unknown".
const (
	BeginUnknown BeginKind = iota
	BeginIndex
	BeginKeyword

	FindUnknown FindKind = 0
	FindRange   FindKind = 1
	FindKeyNum  FindKind = 2
)

// KeySpec describes where keys are among the arguments of a command, see
// https://redis.io/topics/key-specs.
type KeySpec struct {
	Notes string
	Flags KeyFlags

	Begin     BeginKind
	Index     int    // BeginIndex: the position
	Keyword   string // BeginKeyword: keys follow this word,
	StartFrom int    // searched from here; negative: from the end, backwards

	Find      FindKind
	LastKey   int // FindRange: relative to the first; negative: to the end
	Limit     int // FindRange: with LastKey -1, keys are 1/Limit of what is left
	KeyNumIdx int // FindKeyNum: where the number of keys is, relative to the beginning
	FirstKey  int // FindKeyNum: where the first key is, relative to the beginning
	KeyStep   int
}
