//go:build webdev

package webapp

import (
	"io/fs"
	"os"
)

// source returns the files that `make web-dev` writes, of the source tree in the working directory.
func source() (fs.FS, error) { return os.DirFS("internal/edge/webapp/dist"), nil }

const rebuilt = true
