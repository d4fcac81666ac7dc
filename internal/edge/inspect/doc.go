// Package inspect shows how the program reads and writes mail, as commands for support do: what a
// report means, how a reply is classified, which bytes a message has, whether signatures and policies
// hold.
//
// All functions are pure: they use neither a database nor the network. DNS answers come from a Zone.
// The names of JSON fields are documented in docs/inspect.md and do not change.
package inspect
