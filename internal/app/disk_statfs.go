//go:build linux || darwin

package app

import "golang.org/x/sys/unix"

// freeBytes returns how much a process without special rights may still write.
func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
