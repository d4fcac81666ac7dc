-- +goose Up

-- What moves the scores of a tenant's contacts; a tenant without a row has the
-- rules everybody begins with.
CREATE TABLE score_settings (
	tenant_id  TEXT   NOT NULL PRIMARY KEY,
	settings   JSONB  NOT NULL,
	updated_at BIGINT NOT NULL
);

-- How often a rule with a daily cap has scored for a contact on a day of the
-- account, counted from 1970-01-01.
CREATE TABLE score_day (
	tenant_id  TEXT   NOT NULL,
	contact_id TEXT   NOT NULL,
	rule_id    TEXT   NOT NULL,
	day        BIGINT NOT NULL,
	n          BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, contact_id, rule_id, day)
);
CREATE INDEX score_day_age ON score_day (day);

-- Whose scores may fade, longest untouched first. Most contacts have none.
CREATE INDEX contact_score ON contact (tenant_id, COALESCE(score_updated_at, created_at), id)
	WHERE prospect_score > 0 OR customer_score > 0;
