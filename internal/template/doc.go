// Package template keeps the templates and blocks of an account, and makes
// bodies of them.
//
// A template is bodies with placeholders and the schema of what fills them; a
// block is the same in small, for the slots of templates. What the placeholders
// mean is package binding's; here they are stored, looked up and rendered: bound,
// compiled when they are MJML, given a text part. What comes out still holds
// the Liquid of each recipient.
package template
