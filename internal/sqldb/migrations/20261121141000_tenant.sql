-- +goose Up

-- A workspace. Deleted tenants keep their row, so that a slug is never reused.
CREATE TABLE tenant (
	tenant_id              TEXT    NOT NULL PRIMARY KEY,
	slug                   TEXT    NOT NULL,
	name                   TEXT    NOT NULL,
	status                 TEXT    NOT NULL CHECK (status IN ('active', 'paused', 'deleted')),
	pause_reason           TEXT,
	contact_limit          BIGINT  CHECK (contact_limit >= 0),
	site_key               TEXT    NOT NULL,
	timezone               TEXT    NOT NULL,
	locale                 TEXT    NOT NULL,
	currency_code          TEXT    NOT NULL,
	website_url            TEXT,
	logo_url               TEXT,
	postal_address         JSONB   NOT NULL,
	default_identity_id    TEXT,
	default_email_type_id  TEXT,
	default_mta_config_id  TEXT,
	auto_create_on_event   BOOLEAN NOT NULL,
	tracking_enabled       BOOLEAN NOT NULL,
	utm_enabled            BOOLEAN NOT NULL,
	honeypot_links         BOOLEAN NOT NULL,
	send_window_start      TEXT    NOT NULL,
	send_window_end        TEXT    NOT NULL,
	sunset_days            BIGINT  NOT NULL,
	sunset_min_sends       BIGINT  NOT NULL,
	unsubscribe_scope      TEXT    NOT NULL CHECK (unsubscribe_scope IN ('type', 'global')),
	double_opt_in_default  BOOLEAN NOT NULL,
	tracked_domains        JSONB   NOT NULL,
	created_at             BIGINT  NOT NULL,
	updated_at             BIGINT  NOT NULL
);
CREATE UNIQUE INDEX tenant_slug ON tenant (slug);
CREATE UNIQUE INDEX tenant_site_key ON tenant (site_key);
