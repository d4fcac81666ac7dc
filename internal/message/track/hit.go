package track

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Hit is one open or click.
type Hit struct {
	Tenant    id.Tenant
	ID        id.Hit  // set by Record
	Send      id.Send // with Contact and SinceSent: zero if Record is to look them up
	Message   id.Message
	Contact   id.Contact
	Click     bool   // else an open
	Honeypot  bool   // a click on the invisible link, which no person follows; it has no URL
	Link      int    // of the content, for clicks
	URL       string // as authored, for clicks
	At        time.Time
	SinceSent *time.Duration // since the message was accepted; nil: unknown
	Method    string
	Agent     string // at most maxAgent bytes
	IP        string
	Prefetch  bool // by a header: Purpose, Sec-Purpose, X-Purpose, X-Moz
	Signals   Signals

	Class Class
	Rule  string // the ids of the rules that determined Class, with spaces between them

	// Late means that the report of the send was closed (outbox.Closed). The hit is in no sum. Record
	// sets it, and Client.
	Late   bool
	Client Client

	oldClass Class // Class when it was loaded
	mix      int64 // of the message; set for Record
	country  string
}

// Class is the classification of a hit.
type Class string

// The classes.
const (
	Pending Class = "pending"
	Bot     Class = "bot"
	Privacy Class = "privacy" // opens only: fetched by the privacy proxy of a mailbox provider
	Human   Class = "human"
)

// counts reports whether a class is not a machine's.
func (c Class) counts() bool { return c == Human || c == Privacy }

const (
	maxAgent = 512
	// MaxHits is the maximal number of hits stored of one message: more than a recipient
	// makes, and few enough to classify all of them again with each new one.
	MaxHits = 1000
)

// Signals are properties of a request by which its client differs from a browser, or agrees with
// one. The zero value means nothing: older hits have none.
type Signals uint16

// The signals.
const (
	NoLanguage      Signals = 1 << iota // without Accept-Language
	AnyAccept                           // Accept: */*, which browsers do not send for a page
	NoEncoding                          // without Accept-Encoding
	HTTP10                              // HTTP/1.0
	NoFetchMetadata                     // over https, without any Sec-Fetch header
	Navigated                           // Sec-Fetch headers of a person's navigation
	BrandMismatch                       // Sec-CH-UA contradicts the user agent
)

// gmailPrefetch is the end of the agent with which Gmail fetches images at delivery.
const gmailPrefetch = "Edge/12.246 Mozilla/5.0"

// Prefetching reports whether the agent is that of a mailbox provider that fetches images in advance:
// of Apple's mail privacy, or of Gmail at delivery.
func Prefetching(agent string) (apple, gmail bool) {
	return agent == "Mozilla/5.0", strings.HasSuffix(agent, gmailPrefetch)
}

// Proxied reports whether the request came from a proxy of a mailbox provider, which has the same
// address for many recipients: then the address means nothing.
func (h *Hit) Proxied() bool {
	apple, gmail := Prefetching(h.Agent)
	return ImageProxy(h.Agent) || !h.Click && (apple || gmail)
}

// Network returns the network of an address: the /24 of an IPv4 address, the /64 of an IPv6 address,
// in a short form; the text itself if it is no address.
func Network(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	a = a.Unmap().WithZone("")
	bits := 64
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return ip
	}
	return p.String()
}

// HoneypotLink is the number of the invisible link in tokens. Contents have fewer links.
const HoneypotLink = 1<<16 - 1

// clean makes a header valid for a text column, and cuts it to maxAgent bytes.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	if len(s) > maxAgent {
		s = strings.ToValidUTF8(s[:maxAgent], "") // no incomplete character
	}
	return s
}

// Prepare makes a hit ready to be stored: pending, with headers that the database accepts, and with its
// ID, which is the same for equal requests of the same second.
func (h *Hit) Prepare() {
	h.Method, h.Agent, h.Class = clean(h.Method), clean(h.Agent), Pending
	h.ID = h.dedupID()
}

// dedupID returns an id that is the same for equal requests of the same second. It begins
// with the second, so that ids sort by time like all others.
func (h Hit) dedupID() id.Hit {
	second := h.At.Unix()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %t %d %d %t %q %q %q", h.Message, h.Click, h.Link, second, h.Prefetch, h.Method, h.Agent, h.IP))
	u := id.Hit(sum[:16])
	binary.BigEndian.PutUint32(u[:4], uint32(second*1000>>16))
	binary.BigEndian.PutUint16(u[4:6], uint16(second*1000))
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80 // RFC 9562 section 5.8
	return u
}

const hitColumns = `tenant_id, message_id, id, send_id, contact_id, kind, link, url, at, since_sent, method, agent, ip, prefetch, signals, class, rule, client, late`

func scanHit(scan func(...any) error) (Hit, error) {
	var h Hit
	var kind string
	var link, since sql.NullInt64
	var url, rule sql.NullString
	var at, signals int64
	err := scan(&h.Tenant, &h.Message, &h.ID, &h.Send, &h.Contact, &kind, &link, &url, &at, &since,
		&h.Method, &h.Agent, &h.IP, &h.Prefetch, &signals, &h.Class, &rule, sqldb.ToText(&h.Client), &h.Late)
	h.Click, h.Link, h.URL, h.At, h.Rule = kind == "click", int(link.Int64), url.String, sqldb.Time(at), rule.String
	h.Honeypot, h.Signals = h.Click && !url.Valid, Signals(signals)
	h.oldClass = h.Class
	if since.Valid {
		h.SinceSent = new(time.Duration(since.Int64) * time.Microsecond)
	}
	return h, err
}

// HitsOf returns every hit of the messages, by time.
func HitsOf(ctx context.Context, db *sqldb.DB, tenant id.Tenant, messages []id.Message) ([]Hit, error) {
	rows, err := db.Query(ctx, `
		SELECT `+hitColumns+` FROM hit WHERE tenant_id = $1 AND message_id`+db.In(2)+` ORDER BY at, id`,
		tenant, sqldb.List(db, messages))
	return sqldb.Collect(rows, err, scanHit)
}
