// Package wholefile writes files that are there completely or not at all,
// whenever the program or the machine stops.
package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write makes a file appear with its content complete, in the place of what is
// there, or leaves that as it was.
func Write(file string, content []byte) error {
	unfinished, err := begin(file)
	if err != nil {
		return err
	}
	_, err = unfinished.Write(content)
	err = errors.Join(err, unfinished.Chmod(0o644), unfinished.Sync(), unfinished.Close())
	if err == nil {
		err = os.Rename(unfinished.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(unfinished.Name()))
	}
	return nil
}

// Possible returns why a file could not be written, as far as can be told before.
func Possible(file string) error {
	unfinished, err := begin(file)
	if err != nil {
		return err
	}
	return errors.Join(unfinished.Close(), os.Remove(unfinished.Name()))
}

func begin(file string) (unfinished *os.File, err error) {
	return os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.tmp")
}
