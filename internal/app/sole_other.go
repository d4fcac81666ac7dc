//go:build !unix

package app

// soleServer cannot be told on this system; see the Unix one.
func soleServer(string) (unlock func(), err error) { return func() {}, nil }
