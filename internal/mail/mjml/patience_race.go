//go:build race

package mjml

// patience multiplies the limits of time, because the race detector slows down the interpreter.
const patience = 30
