package keyspace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/fakecluster/fakecluster/emulator/internal/rdb"
)

// ErrFile says that something is no RDB file, a damaged one or one of a newer
// version.
var ErrFile = errors.New("bad RDB file")

// FileEntry is one key of an RDB file.
type FileEntry struct {
	DB       int
	Key      []byte
	Payload  []byte // its value as DUMP has it
	ExpireAt int64  // Unix ms, 0 for never
}

// Visitor is shown what an RDB file holds. Its slices refer to the file.
type Visitor struct {
	Entry   func(FileEntry) error
	Library func(code []byte) error // of functions
	// Progress is told how many bytes have been read, now and then.
	Progress func(bytes int)
}

// fileHeader is "REDIS" and four digits.
const fileHeader = len("REDIS0000")

// ReadFile goes through an RDB file of this version of Redis or an older one.
// Values have no length in it, so each is loaded to find its end.
func ReadFile(file []byte, limits *Limits, v Visitor) error {
	if len(file) < fileHeader || string(file[:5]) != "REDIS" {
		return fmt.Errorf("%w: it does not begin with REDIS", ErrFile)
	}
	version, err := strconv.Atoi(string(file[5:fileHeader]))
	newest := rdb.FormatVersion(limits.Version)
	switch {
	case err != nil || version < 1:
		return fmt.Errorf("%w: version %q", ErrFile, file[5:fileHeader])
	case version > int(newest):
		return fmt.Errorf("%w: format version %d, and Redis %v reads up to %d", ErrFile, version, limits.Version, newest)
	}
	f := fileReader{Reader: rdb.NewReader(file[fileHeader:]), file: file, limits: limits, version: version, Visitor: v}
	for {
		more, err := f.next()
		if err == nil && f.Err() != nil {
			err = fmt.Errorf("%w: it is cut off or damaged", ErrFile)
		}
		if err != nil || !more {
			return err
		}
	}
}

// fileReader is on its way through a file.
type fileReader struct {
	*rdb.Reader
	Visitor
	file    []byte
	limits  *Limits
	version int

	db       int
	expireAt int64 // of the next key
	keys     int
}

// Opcodes of files that only readers need.
const (
	opSlotInfo     = 244
	opModuleAux    = 247
	opIdle         = 248
	opFrequency    = 249
	opResizeDB     = 251
	opExpireTime   = 253
	checksumsSince = 5
)

// next reads one item and reports whether there may be more.
func (f *fileReader) next() (more bool, err error) {
	switch op := f.Byte(); op {
	case rdb.OpEOF:
		return false, f.end()
	case rdb.OpSelectDB:
		f.db = int(f.Len())
	case rdb.OpAux:
		f.String()
		f.String()
	case opResizeDB:
		f.Len()
		f.Len()
	case opSlotInfo:
		f.Len()
		f.Len()
		f.Len()
	case opIdle:
		f.Len()
	case opFrequency:
		f.Byte()
	case rdb.OpExpireTimeMs:
		f.expireAt = f.Millis()
	case opExpireTime:
		if b := f.Raw(4); b != nil {
			f.expireAt = int64(int32(binary.LittleEndian.Uint32(b))) * 1000
		}
	case rdb.OpFunction:
		if code := f.String(); f.Err() == nil {
			return true, f.Library(bytes.Clone(code))
		}
	case opModuleAux, opModuleAux - 1:
		return false, fmt.Errorf("%w: data of modules, or functions of a release candidate", ErrFile)
	default:
		return true, f.entry(op)
	}
	return true, nil
}

// progressEvery is after how many keys progress is told.
const progressEvery = 1000

func (f *fileReader) entry(kind byte) error {
	key := f.String()
	begin := f.Left()
	value := loader{f.Reader, f.limits}.value(kind)
	switch {
	case f.Err() != nil:
		return nil // ReadFile says so
	case value == nil:
		return fmt.Errorf("%w: key %q has a value of type %d that makes no sense to Redis %v", ErrFile, key, kind, f.limits.Version)
	}
	raw := f.file[len(f.file)-begin : len(f.file)-f.Left()]
	payload := rdb.Seal(append([]byte{kind}, raw...), rdb.FormatVersion(f.limits.Version))
	e := FileEntry{DB: f.db, Key: bytes.Clone(key), Payload: payload, ExpireAt: f.expireAt}
	f.expireAt = 0
	f.keys++
	if f.Progress != nil && f.keys%progressEvery == 0 {
		f.Progress(len(f.file) - f.Left())
	}
	return f.Entry(e)
}

// end checks the sum of everything before it; 0 says that there is none.
func (f *fileReader) end() error {
	if f.version < checksumsSince {
		return nil
	}
	covered := f.file[:len(f.file)-f.Left()]
	if sum := f.Uint64(); f.Err() == nil && sum != 0 && sum != rdb.Checksum(covered) {
		return fmt.Errorf("%w: the checksum is wrong", ErrFile)
	}
	return nil
}
