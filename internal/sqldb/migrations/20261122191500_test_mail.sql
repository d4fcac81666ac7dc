-- +goose Up

-- How many test mails a tenant has sent in its present hour.
CREATE TABLE test_mail (
	tenant_id  TEXT   NOT NULL PRIMARY KEY,
	started_at BIGINT NOT NULL, -- of the hour: its first test
	mails      BIGINT NOT NULL
);

-- What else an entry says, such as the addresses of a test.
ALTER TABLE audit ADD COLUMN details JSONB;
