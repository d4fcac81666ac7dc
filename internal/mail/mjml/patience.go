//go:build !race

package mjml

// patience multiplies the limits of time.
const patience = 1
