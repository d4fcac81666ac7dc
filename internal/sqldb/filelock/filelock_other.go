//go:build !linux && !darwin

package filelock

// File is the name of a file, on systems without locks of open file descriptions.
type File struct{ path string }

func Open(path string) (*File, error) { return &File{path}, nil }

func (l *File) Serve() (unlock func(), err error) { return lockBeside(l.path) }

func (*File) Migrate() (unlock func(), err error) { return func() {}, nil }

func (*File) Close() error { return nil }
