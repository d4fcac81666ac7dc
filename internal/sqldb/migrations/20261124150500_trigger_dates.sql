-- +goose Up

-- Package trigger.

-- What has a trigger by a date of contacts. While it is being filled, the dates of contacts are read
-- in the order of their ids, and have been up to passed; it is ending once nothing has the trigger.
-- next_at is when engine work is due. version is a digest of dates, the part of the trigger that
-- determines when it fires. zone is the account's time zone when the watch was filled.
CREATE TABLE date_watch (
	since     BIGINT  NOT NULL, -- what was due before does not fire
	next_at   BIGINT  NOT NULL,
	version   BIGINT  NOT NULL,
	tenant_id INTEGER NOT NULL,
	holder_id UUID    NOT NULL,
	passed    UUID,
	kind      TEXT    NOT NULL CHECK (kind IN ('sequence', 'automation')),
	state     TEXT    NOT NULL CHECK (state IN ('filling', 'ready', 'ending')),
	zone      TEXT    NOT NULL DEFAULT '',
	dates     JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, holder_id)
);
CREATE INDEX date_watch_next ON date_watch (next_at);

-- When the triggers fire next for which contacts. value is the date in the contact's field, year that
-- of the anniversary (0: the date itself) which is due at due_at. fired_value and fired_year are of
-- the last one that fired.
CREATE TABLE date_due (
	due_at      BIGINT, -- NULL: nothing is to come
	value       BIGINT  NOT NULL,
	fired_value BIGINT,
	version     BIGINT  NOT NULL,
	tenant_id   INTEGER NOT NULL,
	year        INTEGER NOT NULL,
	fired_year  INTEGER,
	holder_id   UUID    NOT NULL,
	contact_id  UUID    NOT NULL,
	PRIMARY KEY (tenant_id, holder_id, contact_id)
);
CREATE INDEX date_due_contact ON date_due (tenant_id, contact_id);

-- The longest due of all tenants, and of one.
CREATE INDEX date_due_due ON date_due (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX date_due_tenant ON date_due (tenant_id, due_at) WHERE due_at IS NOT NULL;
