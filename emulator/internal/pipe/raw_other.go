//go:build !unix

package pipe

// lookReadable does nothing where pools do not look.
func lookReadable(func(fd uintptr) (done bool)) error { return nil }
