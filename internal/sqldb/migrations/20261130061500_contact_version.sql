-- +goose Up

-- Package contact. version counts the changes of what mails print of a contact, and version_at is the time of the last one.
-- The contacts there are get the time of this migration, since no version is known of the mails that they got before it.
ALTER TABLE contact ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE contact ADD COLUMN version_at BIGINT NOT NULL DEFAULT 1796019300000000;

-- What mails print of the former versions of contacts with which some were sent (contact.AtVersion). until_at is the time
-- of the change that ended the version.
CREATE TABLE contact_version (
	until_at      BIGINT  NOT NULL,
	tenant_id     INTEGER NOT NULL,
	version       INTEGER NOT NULL,
	contact_id    UUID    NOT NULL,
	external_id   TEXT,
	first_name    TEXT,
	last_name     TEXT,
	full_name     TEXT,
	title         TEXT,
	company       TEXT,
	phone         TEXT,
	website       TEXT,
	timezone      TEXT,
	address_line1 TEXT,
	address_line2 TEXT,
	city          TEXT,
	state         TEXT,
	postal_code   TEXT,
	country       TEXT,
	source        TEXT,
	custom_fields JSONB   NOT NULL,
	tags          JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, contact_id, version) -- the version of a message, and all of a contact
);

-- The oldest ones, which retention deletes: contact.PruneVersions.
CREATE INDEX contact_version_until ON contact_version (tenant_id, until_at);

-- Package outbox. The version of the contact that the last attempt printed; NULL: none was made, or it is not known.
ALTER TABLE outbox ADD COLUMN contact_version INTEGER;
