package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/sqldb"
)

// Call is a request that a step of a sequence or an action of an automation makes. It is attempted at
// most CallTries times, with the same id.
type Call struct {
	ID      id.Delivery // zero: a new one
	URL     string
	Type    string // what makes it, such as sequence.step
	Headers map[string]string
	Body    string
	Timeout time.Duration // of one attempt
	Contact id.Contact    // whom it is about
}

// Limits of calls.
const (
	CallTries      = 3
	MaxCallTimeout = 15 * time.Second
	MaxCallBody    = 256 << 10 // bytes
	MaxCallHeaders = 20
	maxCallHeader  = 4 << 10 // bytes of a value
)

// callRetryAfter are the pauses before the second attempt of a call and the third.
var callRetryAfter = [CallTries - 1]time.Duration{5 * time.Second, 5 * time.Minute}

// callPage bounds the bodies that are inserted with one statement, in bytes.
const callPage = 4 << 20

// CheckURL returns the URL of a call with its host in canonical spelling. The message of the error
// says what to send instead.
func CheckURL(text string, rules Rules) (string, error) { return checkURL(text, rules) }

// ownHeaders are the headers of requests that a call cannot set.
var ownHeaders = []string{
	"Connection", "Content-Encoding", "Content-Length", "Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}

// CheckHeaderName checks that a call may set a header.
func CheckHeaderName(name string) error {
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name) || len(name) > 100:
		return errors.New("must be the name of a header, of at most 100 letters, digits and hyphens")
	case slices.Contains(ownHeaders, canonical), strings.HasPrefix(canonical, "Webhook-"):
		return errors.New("is set by the program")
	}
	return nil
}

// HeaderValue returns a text as the value of a header: on one line, without control characters, and
// at most 4 KB.
func HeaderValue(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\r' || r == '\n' {
			return ' '
		}
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), maxCallHeader)], ""))
}

// Header returns the headers of a request for the item, without those that depend on the attempt.
func (i Item) Header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if i.IsCall() && !json.Valid([]byte(i.Body)) {
		h["Content-Type"] = []string{"text/plain; charset=utf-8"}
	}
	for name, value := range i.Headers {
		if CheckHeaderName(name) == nil {
			h.Set(name, HeaderValue(value))
		}
	}
	return h
}

// IsCall reports whether the item is a Call, not an event for an endpoint.
func (i Item) IsCall() bool { return i.Timeout > 0 }

// next returns the state of a delivery after an attempt, and when the next one is due.
func (i Item) next(a Attempt) (DeliveryStatus, *time.Time) {
	tries := i.Tries + 1
	switch {
	case !i.IsCall():
		return a.next(tries)
	case a.Success():
		return Delivered, nil
	case a.gone() || tries >= CallTries:
		return Failed, nil
	}
	return Retrying, new(a.At.Add(callRetryAfter[tries-1]))
}

// queueOf returns the id of the queue of a URL.
func queueOf(url string) id.Webhook {
	sum := sha256.Sum256([]byte(url))
	q := id.Webhook(sum[:16])
	q[6], q[8] = q[6]&0x0f|0x80, q[8]&0x3f|0x80 // version 8 of RFC 9562
	return q
}

// AddCalls adds calls that are due now. It should be one of the last statements of a transaction, since
// it locks the queues of their URLs.
func AddCalls(ctx context.Context, tx *sqldb.DB, box *secret.Box, t id.Tenant, calls []Call, now time.Time) error {
	if len(calls) == 0 {
		return nil
	}
	for len(calls) > 0 {
		n, bytes := 0, 0
		for n < len(calls) && (n == 0 || bytes < callPage) {
			bytes += len(calls[n].Body)
			n++
		}
		if err := addPage(ctx, tx, box, t, calls[:n], now); err != nil {
			return fmt.Errorf("queue calls: %w", err)
		}
		calls = calls[n:]
	}
	tx.Notify(Wake)
	return nil
}

func addPage(ctx context.Context, tx *sqldb.DB, box *secret.Box, t id.Tenant, calls []Call, now time.Time) error {
	rows := tx.Table("id UUID", "endpoint_id UUID", "event_type TEXT", "contact_id UUID", "body TEXT", "headers JSONB", "timeout_s INTEGER")
	urls := map[id.Webhook]string{}
	var queues []id.Webhook
	for _, c := range calls {
		q := queueOf(c.URL)
		if urls[q] == "" {
			urls[q], queues = c.URL, append(queues, q)
		}
		if c.ID.IsZero() {
			c.ID = id.New[id.Delivery]()
		}
		rows.Add(c.ID, q, c.Type, sqldb.Null(c.Contact), c.Body, sealCallHeaders(box, t, q, c.Headers), int64(max(c.Timeout/time.Second, 1)))
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO webhook_delivery (tenant_id, id, endpoint_id, event_type, event_at, contact_id, body, headers, timeout_s, status, due_at, created_at)
		SELECT h.tenant_id, v.id, v.endpoint_id, v.event_type, `+tx.Param(2, "BIGINT")+`, v.contact_id, v.body, v.headers, v.timeout_s, 'pending',
			`+tx.Param(2, "BIGINT")+`, `+tx.Param(2, "BIGINT")+`
		FROM `+tx.Home(1)+` CROSS JOIN `+rows.As("v", 3), rows.Args(t, now.UnixMicro())...)
	if err != nil {
		return err
	}
	slices.SortFunc(queues, id.Compare) // one order for all transactions prevents deadlocks
	places := tx.Table("endpoint_id UUID", "url TEXT")
	for _, q := range queues {
		places.Add(q, urls[q])
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO webhook_queue (tenant_id, endpoint_id, url, next_due)
		SELECT h.tenant_id, v.endpoint_id, v.url, `+tx.Param(2, "BIGINT")+` FROM `+tx.Home(1)+` CROSS JOIN `+places.As("v", 3)+` WHERE true
		ON CONFLICT (tenant_id, endpoint_id) DO UPDATE SET
			next_due = CASE WHEN webhook_queue.next_due < excluded.next_due THEN webhook_queue.next_due ELSE excluded.next_due END`,
		places.Args(t, now.UnixMicro())...)
	return err
}

// pruneQueues deletes the queues of URLs that have no calls.
func pruneQueues(ctx context.Context, db *sqldb.DB, t id.Tenant) error {
	_, err := db.Exec(ctx, `
		DELETE FROM webhook_queue WHERE tenant_id = $1 AND url IS NOT NULL AND next_due IS NULL AND owner = '' AND NOT EXISTS (
			SELECT 1 FROM webhook_delivery AS d WHERE d.tenant_id = $1 AND d.endpoint_id = webhook_queue.endpoint_id)`, t)
	return err
}

func callSecretPlace(t id.Tenant) string { return "webhook_call_secret:" + t.String() }

// NewCallSecret creates the secret with which a tenant's calls are signed from now on, instead of the
// one before. It is not shown again.
func NewCallSecret(ctx context.Context, db *sqldb.DB, box *secret.Box, t id.Tenant, now time.Time) (string, error) {
	text, key := newSecret()
	_, err := db.Exec(ctx, `
		INSERT INTO webhook_call_secret (tenant_id, secret, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (tenant_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at`,
		t, box.Seal(key, callSecretPlace(t)), now.UnixMicro())
	if err != nil {
		return "", fmt.Errorf("store the secret of calls: %w", err)
	}
	return text, nil
}

// Target returns where the deliveries of the lease go. The error is ErrNotFound if the endpoint was
// deleted.
func (l Lease) Target(ctx context.Context, db *sqldb.DB, box *secret.Box) (Target, error) {
	if l.URL == "" {
		return LoadTarget(ctx, db, box, l.Tenant, l.Endpoint)
	}
	t := Target{Endpoint: Endpoint{ID: l.Endpoint, Tenant: l.Tenant, URL: l.URL, Active: true}}
	var sealed string
	err := db.QueryRow(ctx, `SELECT secret FROM webhook_call_secret WHERE tenant_id = $1`, l.Tenant).Scan(&sealed)
	if errors.Is(err, sqldb.ErrNoRows) { // they are not signed
		return t, nil
	}
	if err == nil {
		t.Keys.current, err = box.Open(sealed, callSecretPlace(l.Tenant))
	}
	if err != nil {
		return t, fmt.Errorf("read the secret of calls: %w", err)
	}
	return t, nil
}
