//go:build linux || darwin

package doctor

import "golang.org/x/sys/unix"

// space returns the space available to unprivileged processes, and that of the whole disk.
func space(dir string) (free, total uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
