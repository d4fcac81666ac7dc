//go:build !race

package mjml

// patience stretches the limits of time.
const patience = 1
