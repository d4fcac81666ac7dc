-- +goose Up

-- Package notice.

-- Mails to users of a tenant that steps of sequences and actions of automations write. After the last
-- attempt next_at is NULL, and the text is deleted; the row counts for the limit of an hour.
CREATE TABLE notice (
	created_at BIGINT  NOT NULL,
	next_at    BIGINT,
	sent_at    BIGINT,
	tenant_id  INTEGER NOT NULL,
	tries      INTEGER NOT NULL DEFAULT 0,
	id         UUID    NOT NULL,
	contact_id UUID,
	recipient  TEXT    NOT NULL, -- the address of a user
	subject    TEXT    NOT NULL,
	body       TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, id)
);

-- Notices to send, of all tenants: notice.DueTenants, notice.Due.
CREATE INDEX notice_due ON notice (next_at) WHERE next_at IS NOT NULL;

-- The waiting notices of a tenant: notice.Add, notice.Due.
CREATE INDEX notice_waiting ON notice (tenant_id, next_at) WHERE next_at IS NOT NULL;

-- Notices that were sent within an hour: notice.SentSince.
CREATE INDEX notice_sent ON notice (tenant_id, sent_at) WHERE sent_at IS NOT NULL;

-- Notices about a contact, for export and erasure: notice.PersonalData.
CREATE INDEX notice_contact ON notice (tenant_id, contact_id) WHERE contact_id IS NOT NULL;
