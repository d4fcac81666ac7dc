-- +goose Up

-- Groups of email types that a contact may leave as one (contract 5.2).
CREATE TABLE email_category (
	tenant_id   TEXT   NOT NULL,
	id          TEXT   NOT NULL,
	name        TEXT   NOT NULL,
	description TEXT,
	sort_order  BIGINT NOT NULL,
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- The kinds of mail that a contact may leave one by one.
CREATE TABLE email_type (
	tenant_id           TEXT    NOT NULL,
	id                  TEXT    NOT NULL,
	type_key            TEXT    NOT NULL,
	display_name        TEXT    NOT NULL,
	description         TEXT,
	utm_campaign_prefix TEXT,
	category_id         TEXT,
	sort_order          BIGINT  NOT NULL,
	active              BOOLEAN NOT NULL,
	list_id_enabled     BOOLEAN NOT NULL,
	list_key            TEXT,
	created_at          BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id),
	FOREIGN KEY (tenant_id, category_id) REFERENCES email_category (tenant_id, id)
);
CREATE UNIQUE INDEX email_type_key ON email_type (tenant_id, type_key);
CREATE INDEX email_type_category ON email_type (tenant_id, category_id);

-- The domains a tenant sends from (contract 5.3).
CREATE TABLE sending_domain (
	tenant_id        TEXT    NOT NULL,
	id               TEXT    NOT NULL,
	domain           TEXT    NOT NULL,
	status           TEXT    NOT NULL,
	dkim_selector    TEXT    NOT NULL,
	dkim_key         TEXT    NOT NULL, -- PKCS #8, sealed
	dkim_record      TEXT    NOT NULL, -- what the tenant publishes
	return_path_host TEXT    NOT NULL,
	tracking_host    TEXT    NOT NULL, -- may carry a port when the operator set it
	tracking_status  TEXT    NOT NULL,
	dmarc_policy     TEXT,
	paused           BOOLEAN NOT NULL,
	pause_reason     TEXT,
	verified_by      TEXT,
	verified_at      BIGINT,
	last_checked_at  BIGINT,
	created_at       BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX sending_domain_name ON sending_domain (tenant_id, domain);

-- The addresses a tenant sends from (contract 5.4).
CREATE TABLE sending_identity (
	tenant_id              TEXT    NOT NULL,
	id                     TEXT    NOT NULL,
	email_address          TEXT    NOT NULL,
	display_name           TEXT    NOT NULL,
	reply_to               TEXT,
	sending_domain_id      TEXT    NOT NULL,
	content_rewrite_domain TEXT,
	utm_code               TEXT,
	default_mta_config_id  TEXT,
	active                 BOOLEAN NOT NULL,
	created_at             BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id),
	FOREIGN KEY (tenant_id, sending_domain_id) REFERENCES sending_domain (tenant_id, id),
	FOREIGN KEY (tenant_id, default_mta_config_id) REFERENCES mta_config (tenant_id, id)
);
CREATE UNIQUE INDEX sending_identity_address ON sending_identity (tenant_id, email_address);
CREATE INDEX sending_identity_domain ON sending_identity (tenant_id, sending_domain_id);
CREATE INDEX sending_identity_lane ON sending_identity (tenant_id, default_mta_config_id);

-- Which email types an identity may be used for.
CREATE TABLE identity_email_type (
	tenant_id     TEXT NOT NULL,
	email_type_id TEXT NOT NULL,
	identity_id   TEXT NOT NULL,
	PRIMARY KEY (tenant_id, email_type_id, identity_id),
	FOREIGN KEY (tenant_id, identity_id) REFERENCES sending_identity (tenant_id, id) ON DELETE CASCADE,
	FOREIGN KEY (tenant_id, email_type_id) REFERENCES email_type (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX identity_email_type_identity ON identity_email_type (tenant_id, identity_id);

-- The lanes that took a test mail from an identity.
CREATE TABLE identity_lane (
	tenant_id     TEXT   NOT NULL,
	identity_id   TEXT   NOT NULL,
	mta_config_id TEXT   NOT NULL,
	verified_at   BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, identity_id, mta_config_id),
	FOREIGN KEY (tenant_id, identity_id) REFERENCES sending_identity (tenant_id, id) ON DELETE CASCADE,
	FOREIGN KEY (tenant_id, mta_config_id) REFERENCES mta_config (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX identity_lane_config ON identity_lane (tenant_id, mta_config_id);
