-- +goose Up

CREATE TABLE contact_stage (
	tenant_id   TEXT    NOT NULL,
	id          TEXT    NOT NULL,
	name        TEXT    NOT NULL,
	slug        TEXT    NOT NULL,
	category    TEXT    NOT NULL,
	color       TEXT,
	description TEXT,
	sort_order  BIGINT  NOT NULL,
	is_default  BOOLEAN NOT NULL,
	created_at  BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX contact_stage_slug ON contact_stage (tenant_id, slug);
CREATE UNIQUE INDEX contact_stage_default ON contact_stage (tenant_id) WHERE is_default;

-- Who a tenant may write to. search_text is what the free-text search looks in:
-- names, company and address, folded.
CREATE TABLE contact (
	tenant_id              TEXT    NOT NULL,
	id                     TEXT    NOT NULL,
	email                  TEXT    NOT NULL,
	email_domain           TEXT    NOT NULL,
	external_id            TEXT,
	first_name             TEXT,
	last_name              TEXT,
	full_name              TEXT,
	title                  TEXT,
	company                TEXT,
	phone                  TEXT,
	website                TEXT,
	timezone               TEXT,
	address_line1          TEXT,
	address_line2          TEXT,
	city                   TEXT,
	state                  TEXT,
	postal_code            TEXT,
	country                TEXT,
	source                 TEXT,
	stage_id               TEXT,
	custom_fields          JSONB   NOT NULL,
	tags                   JSONB   NOT NULL,
	subscriptions          JSONB   NOT NULL,
	category_subscriptions JSONB   NOT NULL,
	global_status          TEXT    NOT NULL,
	status_before_suppress TEXT,
	do_not_contact         BOOLEAN NOT NULL,
	prospect_score         DOUBLE PRECISION NOT NULL,
	customer_score         DOUBLE PRECISION NOT NULL,
	score_updated_at       BIGINT,
	created_at             BIGINT  NOT NULL,
	updated_at             BIGINT  NOT NULL,
	anonymized_at          BIGINT,
	suppressed_at          BIGINT,
	unsubscribed_at        BIGINT,
	search_text            TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, id),
	FOREIGN KEY (tenant_id, stage_id) REFERENCES contact_stage (tenant_id, id)
);
CREATE UNIQUE INDEX contact_email ON contact (tenant_id, email);
CREATE UNIQUE INDEX contact_external_id ON contact (tenant_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX contact_created ON contact (tenant_id, created_at, id);
CREATE INDEX contact_updated ON contact (tenant_id, updated_at, id);
CREATE INDEX contact_stage_members ON contact (tenant_id, stage_id) WHERE stage_id IS NOT NULL;
CREATE INDEX contact_billable ON contact (tenant_id) WHERE global_status NOT IN ('pending', 'suppressed') AND anonymized_at IS NULL;

-- What every mail touches, kept apart so that a send never rewrites the wide
-- row. settled_activity_at is last_activity_at without what is not yet
-- classified; soft_bounces is the run of soft bounces without a delivery.
CREATE TABLE contact_activity (
	tenant_id                 TEXT    NOT NULL,
	contact_id                TEXT    NOT NULL,
	last_activity_at          BIGINT,
	last_activity_pending     BOOLEAN NOT NULL,
	settled_activity_at       BIGINT,
	last_email_sent_at        BIGINT,
	last_email_opened_at      BIGINT,
	last_email_clicked_at     BIGINT,
	last_page_viewed_at       BIGINT,
	total_emails_sent         BIGINT  NOT NULL,
	total_emails_opened       BIGINT  NOT NULL,
	total_emails_clicked      BIGINT  NOT NULL,
	bounce_type               TEXT,
	soft_bounces              BIGINT  NOT NULL,
	soft_bounces_since        BIGINT,
	last_soft_bounce_at       BIGINT,
	listed                    BOOLEAN NOT NULL,
	deliverability_status     TEXT    NOT NULL,
	deliverability_reason     TEXT,
	deliverability_updated_at BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, contact_id)
);

-- One row per tenant with a contact limit: creations of a limited tenant take
-- turns on it, so that two at once do not both take the last place.
CREATE TABLE contact_turn (
	tenant_id TEXT NOT NULL PRIMARY KEY
);
