-- +goose Up

-- Where the mail of a domain goes, as the DNS says: public facts, so they are
-- kept once for all tenants. checked_at is null until the first answer; at
-- next_at the DNS is asked (again). tries counts answers that failed to come.
CREATE TABLE mail_domain (
	domain        TEXT   NOT NULL PRIMARY KEY,
	mx_record     TEXT,
	smtp_provider TEXT,
	checked_at    BIGINT,
	next_at       BIGINT NOT NULL,
	tries         BIGINT NOT NULL
);
CREATE INDEX mail_domain_next ON mail_domain (next_at);
