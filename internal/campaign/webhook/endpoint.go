package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/packetboat/packetboat/internal/base/fault"
	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/base/netguard"
	"github.com/packetboat/packetboat/internal/base/secret"
	"github.com/packetboat/packetboat/internal/mail/address"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

// The faults of this package.
var (
	ErrNotFound   = fault.New(fault.NotFound, "NOT_FOUND", "there is no such webhook endpoint")
	ErrNoDelivery = fault.New(fault.NotFound, "NOT_FOUND", "there is no such delivery")
	ErrTooMany    = fault.New(fault.Invalid, "LIMIT_EXCEEDED", "at most 20 webhook endpoints are possible")
	ErrDisabled   = fault.New(fault.Conflict, "INVALID_TRANSITION", "the webhook endpoint is disabled; set active to true first")
)

// Limits of endpoints.
const (
	MaxEndpoints   = 20
	maxURL         = 2048
	maxDescription = 1000
)

// Status is the health of an endpoint.
type Status string

// The states of health.
const (
	Healthy  Status = "healthy"
	Failing  Status = "failing" // the last attempt failed
	Disabled Status = "disabled"
)

// Reason is why the program disabled an endpoint.
type Reason string

// The reasons.
const (
	Gone          Reason = "gone"    // it answered 410
	FailingReason Reason = "failing" // all attempts of disableAfter failed
)

// Endpoint is a URL of a tenant that is sent events.
type Endpoint struct {
	ID             id.Webhook
	Tenant         id.Tenant
	URL            string
	Description    string
	EventTypes     []string // EventTypes, or only AllEvents
	Active         bool
	DisabledReason Reason // empty unless the program disabled it
	FailingSince   *time.Time
	LastSuccessAt  *time.Time
	LastFailureAt  *time.Time
	CreatedAt      time.Time
	Revision       int64
}

// Revisions is the table of endpoints, for conditions on their revisions.
var Revisions = revision.Table{Name: "webhook_endpoint", At: "COALESCE(revised_at, created_at)"}

// Status returns the endpoint's health.
func (e Endpoint) Status() Status {
	switch {
	case !e.Active:
		return Disabled
	case e.FailingSince != nil:
		return Failing
	}
	return Healthy
}

// wants reports whether the endpoint is sent events of a type.
func (e Endpoint) wants(eventType string) bool {
	return slices.Contains(e.EventTypes, AllEvents) || slices.Contains(e.EventTypes, eventType)
}

// Rules are what the operator allows.
type Rules struct{ AllowPrivate bool } // endpoints with http, and with loopback and private addresses

// Fields are the fields of a create or an update; nil ones do not change.
type Fields struct {
	URL         *string
	Description *string
	EventTypes  *[]string
	Active      *bool
}

// CheckNew validates the fields of a new endpoint.
func (f Fields) CheckNew(rules Rules) error {
	var p fault.Problems
	f.applyNew(rules, &p)
	return p.Err()
}

// Check validates the fields of an update.
func (f Fields) Check(rules Rules) error {
	var p fault.Problems
	f.apply(Endpoint{}, rules, &p)
	return p.Err()
}

func (f Fields) applyNew(rules Rules, p *fault.Problems) Endpoint {
	if f.URL == nil {
		p.Add("url", "required")
	}
	if f.EventTypes == nil {
		p.Add("event_types", "required")
	}
	return f.apply(Endpoint{Active: true}, rules, p)
}

// apply returns e with the fields.
func (f Fields) apply(e Endpoint, rules Rules, p *fault.Problems) Endpoint {
	if f.URL != nil {
		target, err := checkURL(*f.URL, rules)
		if err != nil {
			p.Add("url", err.Error())
		}
		e.URL = target
	}
	if f.Description != nil {
		e.Description = strings.TrimSpace(norm.NFC.String(*f.Description))
		if utf8.RuneCountInString(e.Description) > maxDescription || strings.ContainsRune(e.Description, 0) {
			p.Add("description", fmt.Sprintf("at most %d characters", maxDescription))
		}
	}
	if f.EventTypes != nil {
		e.EventTypes = checkEventTypes(*f.EventTypes, p)
	}
	if f.Active != nil {
		if *f.Active && !e.Active { // its failures are forgotten
			e.DisabledReason, e.FailingSince = "", nil
		}
		e.Active = *f.Active
	}
	return e
}

// checkURL returns the URL of an endpoint with its host in canonical spelling.
func checkURL(text string, rules Rules) (string, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxURL {
		return "", fmt.Errorf("at most %d characters", maxURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return "", errors.New("must be a URL such as https://example.com/hook")
	}
	switch {
	case u.Scheme == "http" && !rules.AllowPrivate, u.Scheme != "https" && u.Scheme != "http":
		return "", errors.New("must begin with https://")
	case u.User != nil:
		return "", errors.New("must not contain a user name or a password")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return "", errors.New("must not contain a fragment")
	case strings.HasSuffix(u.Host, ":") || u.Port() != "" && !validPort(u.Port()):
		return "", errors.New("has a bad port")
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if !strings.Contains(host, ":") { // not an IPv6 address
		if ascii, err := address.Hostname(host); err == nil {
			host = ascii
		}
	}
	if err := netguard.CheckHost(host, rules.AllowPrivate); err != nil {
		if errors.Is(err, netguard.ErrRefusedAddress) {
			return "", errors.New("must not name a private or reserved address")
		}
		return "", errors.New("has a bad host name")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	u.Host = host
	return u.String(), nil
}

// validPort reports whether text is a number from 1 to 65535 of at most 5 digits.
func validPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && len(text) <= 5
}

// checkEventTypes returns event types, each once and in the order of EventTypes.
func checkEventTypes(list []string, p *fault.Problems) []string {
	if len(list) == 0 {
		p.Add("event_types", "at least one is needed")
		return nil
	}
	all := EventTypes()
	for _, t := range list {
		if t != AllEvents && !slices.Contains(all, t) {
			p.AddElement("event_types", "must be an event type or *")
		}
	}
	if slices.Contains(list, AllEvents) {
		return []string{AllEvents}
	}
	return slices.DeleteFunc(all, func(t string) bool { return !slices.Contains(list, t) })
}

const endpointColumns = `id, url, description, event_types, active, disabled_reason, failing_since, last_success_at, last_failure_at, created_at, revision`

func scanEndpoint(tenant id.Tenant) func(func(...any) error) (Endpoint, error) {
	return func(row func(...any) error) (Endpoint, error) {
		e := Endpoint{Tenant: tenant}
		var types string
		err := row(&e.ID, &e.URL, sqldb.ToText(&e.Description), &types, &e.Active, sqldb.ToText(&e.DisabledReason),
			sqldb.ToNullTime(&e.FailingSince), sqldb.ToNullTime(&e.LastSuccessAt), sqldb.ToNullTime(&e.LastFailureAt), sqldb.ToTime(&e.CreatedAt), &e.Revision)
		if err == nil {
			err = json.Unmarshal([]byte(types), &e.EventTypes)
		}
		return e, err
	}
}

// List returns the endpoints of a tenant, newest first.
func List(ctx context.Context, db *sqldb.DB, tenant id.Tenant) ([]Endpoint, error) {
	rows, err := db.Query(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoint WHERE tenant_id = $1 ORDER BY id DESC`, tenant)
	list, err := sqldb.Collect(rows, err, scanEndpoint(tenant))
	if err != nil {
		return nil, fmt.Errorf("list webhook endpoints: %w", err)
	}
	return list, nil
}

// ByID returns one endpoint, or ErrNotFound.
func ByID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, endpoint id.Webhook) (Endpoint, error) {
	return byID(ctx, db, tenant, endpoint, "")
}

func byID(ctx context.Context, db *sqldb.DB, tenant id.Tenant, endpoint id.Webhook, lock string) (Endpoint, error) {
	e, err := scanEndpoint(tenant)(db.QueryRow(ctx, `SELECT `+endpointColumns+` FROM webhook_endpoint WHERE tenant_id = $1 AND id = $2`+lock, tenant, endpoint).Scan)
	if errors.Is(err, sqldb.ErrNoRows) {
		return Endpoint{}, ErrNotFound
	}
	if err != nil {
		return Endpoint{}, fmt.Errorf("read a webhook endpoint: %w", err)
	}
	return e, nil
}

// Create adds an endpoint and returns it with its secret, which is not shown again.
func Create(ctx context.Context, db *sqldb.DB, box *secret.Box, tenant id.Tenant, f Fields, rules Rules, now time.Time) (Endpoint, string, error) {
	var p fault.Problems
	e := f.applyNew(rules, &p)
	if err := p.Err(); err != nil {
		return Endpoint{}, "", err
	}
	e.ID, e.Tenant, e.CreatedAt, e.Revision = id.New[id.Webhook](), tenant, sqldb.Time(now.UnixMicro()), 1
	text, key := newSecret()
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		list, err := List(ctx, tx, tenant)
		if err != nil {
			return err
		}
		if len(list) >= MaxEndpoints {
			return ErrTooMany
		}
		_, err = tx.Exec(ctx, `
			INSERT INTO webhook_endpoint (tenant_id, id, url, description, event_types, active, secret, created_at, revised_by)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			tenant, e.ID, e.URL, sqldb.Null(e.Description), encode(e.EventTypes), e.Active, box.Seal(key, secretPlace(tenant, e.ID)), now.UnixMicro(), revision.By(ctx))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO webhook_queue (tenant_id, endpoint_id) VALUES ($1, $2)`, tenant, e.ID)
		return err
	})
	if err != nil {
		return Endpoint{}, "", fmt.Errorf("create a webhook endpoint: %w", err)
	}
	return e, text, nil
}

// Update changes an endpoint. Activating a disabled one makes it healthy; deactivating one ends its
// waiting deliveries.
func Update(ctx context.Context, db *sqldb.DB, tenant id.Tenant, endpoint id.Webhook, f Fields, rules Rules, now time.Time) (Endpoint, error) {
	var e Endpoint
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		before, err := byID(ctx, tx, tenant, endpoint, tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := Revisions.Check(ctx, tx, tenant, endpoint); err != nil {
			return err
		}
		var p fault.Problems
		e = f.apply(before, rules, &p)
		if err := p.Err(); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `
			UPDATE webhook_endpoint SET url = $3, description = $4, event_types = $5, active = $6, disabled_reason = $7, failing_since = $8,
				notice_due = notice_due AND NOT $6, revision = revision + 1, revised_at = $9, revised_by = $10
			WHERE tenant_id = $1 AND id = $2`,
			tenant, endpoint, e.URL, sqldb.Null(e.Description), encode(e.EventTypes), e.Active, sqldb.Null(e.DisabledReason), sqldb.NullMicros(e.FailingSince), now.UnixMicro(), revision.By(ctx))
		e.Revision++
		if err != nil || before.Active == e.Active {
			return err
		}
		return makeDue(ctx, tx, tenant, []id.Webhook{endpoint}, now)
	})
	if err != nil {
		return Endpoint{}, fmt.Errorf("update a webhook endpoint: %w", err)
	}
	return e, nil
}

// Delete deletes an endpoint. Its deliveries are deleted in the background.
func Delete(ctx context.Context, db *sqldb.DB, tenant id.Tenant, endpoint id.Webhook, now time.Time) error {
	err := db.InTx(ctx, func(tx *sqldb.DB) error {
		if err := Revisions.Check(ctx, tx, tenant, endpoint); err != nil {
			return err
		}
		n, err := tx.Exec(ctx, `DELETE FROM webhook_endpoint WHERE tenant_id = $1 AND id = $2`, tenant, endpoint)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		return makeDue(ctx, tx, tenant, []id.Webhook{endpoint}, now)
	})
	if err != nil {
		return fmt.Errorf("delete a webhook endpoint: %w", err)
	}
	return nil
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // lists of strings can be encoded
	}
	return string(text)
}
