// Package draft implements content as its author writes it, of a broadcast or a library entry:
// bodies, or a template and its binding.
//
// All changes to such content are applied here, so that broadcasts and entries have the same rules:
// what replaces what, when a template is rendered again, how MJML becomes HTML, and what is
// refused. The result can be displayed and frozen (package content).
package draft
