// Package version names the Redis versions that can be emulated. Commands,
// options and texts that differ between them ask one value of this type.
package version

import (
	"fmt"
	"strings"
)

// Version is a Redis version. Values are comparable; use AtLeast for order.
type Version struct {
	Major, Minor, Patch int
}

// The versions that can be emulated: the last patch release the recorded facts
// were taken from, for 6.2 the last that was published.
var (
	V6_2 = Version{6, 2, 14}
	V7_0 = Version{7, 0, 15}
	V7_2 = Version{7, 2, 6}
	V7_4 = Version{7, 4, 1}

	// Default is emulated when nobody asks for another.
	Default = V7_2

	all = []Version{V6_2, V7_0, V7_2, V7_4}
)

// Parse reads "7.2" or "7.2.6". A patch level may be any; the minor version
// must be one that can be emulated.
func Parse(s string) (Version, error) {
	var names []string
	for _, v := range all {
		name := fmt.Sprintf("%d.%d", v.Major, v.Minor)
		if s == name {
			return v, nil
		}
		if patch, ok := strings.CutPrefix(s, name+"."); ok {
			var n int
			if _, err := fmt.Sscanf(patch, "%d", &n); err == nil && fmt.Sprint(n) == patch && n >= 0 {
				return Version{v.Major, v.Minor, n}, nil
			}
		}
		names = append(names, name)
	}
	return Version{}, fmt.Errorf("redis version %q cannot be emulated: choose one of %s", s, strings.Join(names, ", "))
}

// String is the version as INFO and HELLO print it.
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// AtLeast reports whether v is major.minor or later.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

// Number is the version as one integer, 0x00MMmmpp.
func (v Version) Number() int {
	return v.Major<<16 | v.Minor<<8 | v.Patch
}
