// Package directmx connects to the mail servers of recipients' domains (RFC 5321 section 5.1).
//
// A Router looks up the route to a domain and connects along it: up to four servers in the order of
// their preference, equals in random order, and up to two addresses of each. Errors before the first
// MAIL command lead to the next server. Addresses that a netguard.Guard refuses, and those of this
// machine, are never connected to, since anyone can publish a domain that points there.
//
// Domains with the same servers have the same Route.Destination, and those of a large provider share its
// name, so that callers can limit connections and rates for the destination instead of the domain. A
// Pool keeps connections to many destinations open for reuse.
package directmx
