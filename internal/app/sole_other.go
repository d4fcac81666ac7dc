//go:build !unix

package app

import "github.com/packetboat/packetboat/internal/sqldb"

// soleServer is not implemented on this system; see the Unix one.
func soleServer(*sqldb.DB) (unlock func(), err error) { return func() {}, nil }
