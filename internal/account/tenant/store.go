package tenant

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/packetboat/packetboat/internal/base/id"
	"github.com/packetboat/packetboat/internal/sqldb"
	"github.com/packetboat/packetboat/internal/sqldb/revision"
)

const columns = `
	tenant_id, slug, name, status, pause_reason, contact_limit, site_key,
	timezone, locale, currency_code, website_url, logo_url, postal_address,
	default_identity_id, default_email_type_id, default_mta_config_id,
	auto_create_on_event, tracking_enabled, utm_enabled, honeypot_links,
	send_window_start, send_window_end, sunset_days, sunset_min_sends,
	unsubscribe_scope, double_opt_in_default, tracked_domains, brand,
	events_days, engagement_days, deliveries_days, raw_requests_days, retention_at, created_at, updated_at, revision`

// changeable returns the columns of the settings, in the order of insert and save.
func (s Settings) changeable() []any {
	address, _ := json.Marshal(s.PostalAddress) // strings always encode
	domains, _ := json.Marshal(s.TrackedDomains)
	return []any{
		s.Timezone, s.Locale, s.CurrencyCode, s.WebsiteURL, s.LogoURL, string(address),
		sqldb.Null(s.DefaultIdentity), sqldb.Null(s.DefaultEmailType), sqldb.Null(s.DefaultLane),
		s.AutoCreateOnEvent, s.Tracking.Enabled, s.Tracking.UTM, s.Tracking.Honeypot,
		s.SendWindow.Start, s.SendWindow.End, s.SunsetDays, s.SunsetMinSends,
		s.UnsubscribeScope, s.DoubleOptInDefault, string(domains),
		s.Retention.Events, s.Retention.Engagement, s.Retention.Deliveries, s.Retention.RawRequests,
	}
}

// errNumberTaken means that another tenant was created with the same number.
var errNumberTaken = errors.New("the next number of a tenant is taken")

// insert inserts a tenant with the next number, which it returns.
func insert(ctx context.Context, db *sqldb.DB, t Tenant) (number id.Tenant, err error) {
	args := append([]any{t.Slug, t.Name, t.Status, t.SiteKey, t.CreatedAt.UnixMicro(), t.UpdatedAt.UnixMicro()}, t.Settings.changeable()...)
	err = db.QueryRow(ctx, `
		/* all tenants: the highest of their numbers */
		INSERT INTO tenant (
			tenant_id, slug, name, status, site_key, created_at, updated_at,
			timezone, locale, currency_code, website_url, logo_url, postal_address,
			default_identity_id, default_email_type_id, default_mta_config_id,
			auto_create_on_event, tracking_enabled, utm_enabled, honeypot_links,
			send_window_start, send_window_end, sunset_days, sunset_min_sends,
			unsubscribe_scope, double_opt_in_default, tracked_domains, events_days, engagement_days, deliveries_days, raw_requests_days)
		SELECT (SELECT COALESCE(MAX(tenant_id), 0) + 1 FROM tenant), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
			$16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30
		WHERE true ON CONFLICT (slug) DO NOTHING RETURNING tenant_id`, args...).Scan(&number)
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return 0, ErrDuplicateSlug
	case sqldb.IsUniqueViolation(err):
		return 0, errNumberTaken
	case err != nil:
		return 0, fmt.Errorf("create tenant: %w", err)
	}
	return number, db.AssignHome(ctx, number)
}

func save(ctx context.Context, db *sqldb.DB, t id.Tenant, name string, s Settings, now time.Time) error {
	n, err := db.Exec(ctx, `
		UPDATE tenant SET name = $2, updated_at = $3,
			timezone = $4, locale = $5, currency_code = $6, website_url = $7, logo_url = $8, postal_address = $9,
			default_identity_id = $10, default_email_type_id = $11, default_mta_config_id = $12,
			auto_create_on_event = $13, tracking_enabled = $14, utm_enabled = $15, honeypot_links = $16,
			send_window_start = $17, send_window_end = $18, sunset_days = $19, sunset_min_sends = $20,
			unsubscribe_scope = $21, double_opt_in_default = $22, tracked_domains = $23,
			retention_at = CASE WHEN events_days = $24 AND engagement_days = $25 AND deliveries_days = $26 AND raw_requests_days = $27
				THEN retention_at ELSE $3 END,
			events_days = $24, engagement_days = $25, deliveries_days = $26, raw_requests_days = $27,
			revision = revision + 1, revised_at = $3, revised_by = $28
		WHERE tenant_id = $1 AND status <> 'deleted'`,
		append(append([]any{t, name, now.UnixMicro()}, s.changeable()...), revision.By(ctx))...)
	if err != nil {
		return fmt.Errorf("save settings: %w", err)
	}
	if n == 0 {
		return ErrNotFound
	}
	return nil
}

func scan(row func(...any) error) (Tenant, error) {
	var t Tenant
	var reason sql.NullString
	var limit sql.NullInt64
	var address, domains, brand string
	var created, updated, retentionAt int64
	s := &t.Settings
	err := row(
		&t.ID, &t.Slug, &t.Name, &t.Status, &reason, &limit, &t.SiteKey,
		&s.Timezone, &s.Locale, &s.CurrencyCode, &s.WebsiteURL, &s.LogoURL, &address,
		&s.DefaultIdentity, &s.DefaultEmailType, &s.DefaultLane,
		&s.AutoCreateOnEvent, &s.Tracking.Enabled, &s.Tracking.UTM, &s.Tracking.Honeypot,
		&s.SendWindow.Start, &s.SendWindow.End, &s.SunsetDays, &s.SunsetMinSends,
		&s.UnsubscribeScope, &s.DoubleOptInDefault, &domains, &brand,
		&s.Retention.Events, &s.Retention.Engagement, &s.Retention.Deliveries, &s.Retention.RawRequests, &retentionAt, &created, &updated, &t.Revision)
	if err != nil {
		return Tenant{}, err
	}
	if err := json.Unmarshal([]byte(address), &s.PostalAddress); err != nil {
		return Tenant{}, fmt.Errorf("postal address of %s: %w", t.ID, err)
	}
	if err := json.Unmarshal([]byte(domains), &s.TrackedDomains); err != nil {
		return Tenant{}, fmt.Errorf("tracked domains of %s: %w", t.ID, err)
	}
	s.Brand = DefaultBrand()
	if err := json.Unmarshal([]byte(brand), &s.Brand); err != nil {
		return Tenant{}, fmt.Errorf("brand of %s: %w", t.ID, err)
	}
	if limit.Valid {
		t.ContactLimit = new(int(limit.Int64))
	}
	if retentionAt != 0 {
		t.RetentionAt = sqldb.Time(retentionAt)
	}
	t.PauseReason = reason.String
	t.CreatedAt, t.UpdatedAt = sqldb.Time(created), sqldb.Time(updated)
	return t, nil
}
