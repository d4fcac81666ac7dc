// Package visitor records what visitors of tenants' websites do, and which contacts they are.
//
// A visitor is one browser. The script on the website stores a random identifier there and
// sends it with each request: of page views, of events, and of identify calls. The
// identifiers are stored as hashes.
//
//	request ──▶ Parse ──▶ Collector (visitor_inbox) ──▶ Engine ──▶ visitor, contact, journal
//
// A Collector makes a request durable, after which it is answered; the Engine applies it
// later. So the time of an answer does not depend on whether a contact has an address, and a
// website under load does not wait for the tables of contacts.
//
// A visitor is unknown until it is linked to a contact. Page views and events of an unknown
// visitor are kept for 30 days, and become those of the contact when it is linked:
//
//	unknown ──identify, or a click classified as human──▶ linked ──▶ linked to another contact
//	   ▲                                                     │
//	   └──────────the click is classified as a machine's─────┘
//
// A link has a strength: an address that anybody can enter is weaker than a click in a mail,
// and that is weaker than an identity that the tenant's server has signed. Within a session,
// a weaker link does not replace a stronger one to another contact (see link). When a visitor
// changes to another contact, nothing from before is attributed to that contact.
//
// A session ends after 30 minutes without a request. The first touch of a contact is the first
// session of its first linked visitor; the last touch is the last session that came by a
// campaign (UTM parameters) or from another website.
package visitor
