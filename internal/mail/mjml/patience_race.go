//go:build race

package mjml

// patience stretches the limits of time, because the race detector slows the
// interpreter down by more than they allow for.
const patience = 30
