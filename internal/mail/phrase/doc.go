// Package phrase finds which of many regular expressions match a text, in about the time that it takes
// to read the text once.
//
// Most expressions about what people and programs write contain words without which they cannot match.
// A Set derives such literals from the syntax of each expression and searches for all of them together
// (Aho and Corasick). Only expressions one of whose literals occurs are then executed, so the result is
// the same as that of executing all.
package phrase
