// Package mjml compiles MJML to HTML with the official compiler, run inside the
// program.
//
// The compiler is a script that the build fetches; a program built without it
// works, and answers ErrUnavailable here. The script runs in an interpreter of
// its own that sees no files and no network, for at most a few seconds and in
// bounded memory, opened when it is first needed and closed when it has been idle.
package mjml
