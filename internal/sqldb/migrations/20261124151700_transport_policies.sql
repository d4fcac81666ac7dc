-- +goose Up

-- Package maildomain.

-- The MTA-STS policies of domains to which mail was sent (RFC 8461), until they expire. hosts is a JSON
-- array of patterns, max_age in seconds.
CREATE TABLE mail_domain_policy (
	domain     TEXT    NOT NULL PRIMARY KEY,
	policy_id  TEXT    NOT NULL,
	mode       TEXT    NOT NULL,
	max_age    BIGINT  NOT NULL,
	hosts      TEXT    NOT NULL,
	fetched_at BIGINT  NOT NULL,
	expires_at BIGINT  NOT NULL
);

CREATE INDEX mail_domain_policy_expires_at ON mail_domain_policy (expires_at);
