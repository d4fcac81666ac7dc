//go:build !unix

package app

import "github.com/packetboat/packetboat/internal/sqldb"

// soleServer returns no lock: systems that are not Unix have no flock. No release is built for them.
func soleServer(*sqldb.DB) (unlock func(), err error) { return func() {}, nil }
