// Package template stores the templates and blocks of an account, and renders bodies from them.
//
// A template is bodies with placeholders and the schema of their values. A block is a smaller piece
// of the same kind, for the slots of templates. Package binding defines the placeholders; this
// package stores and renders: it fills in a binding, compiles MJML, and derives a text part. The
// rendered bodies still contain the Liquid for each recipient.
package template
