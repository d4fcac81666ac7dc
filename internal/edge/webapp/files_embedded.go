//go:build !webdev

package webapp

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var embedded embed.FS

// source returns the built files, which are part of the program.
func source() (fs.FS, error) { return fs.Sub(embedded, "dist") }

// rebuilt reports whether the files may have changed since they were read.
const rebuilt = false
