// Package manuscript is content as its author writes it, of a broadcast or of an
// entry of the library: bodies, or a template and what fills it.
//
// A change to a manuscript is applied in one place, so that both kinds of holder
// keep the same rules: what replaces what, when a template is rendered again, how
// MJML becomes HTML, and what is refused. What comes out is ready to be looked at
// and to be frozen (package content).
package manuscript
