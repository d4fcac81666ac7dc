-- +goose Up

-- Package certificate.

-- The hosts that need certificates, and the last certificate of each.
CREATE TABLE tls_certificate (
	host        TEXT    NOT NULL PRIMARY KEY,
	sealed      TEXT,            -- the key and the chain in PEM, sealed; NULL: there is none yet
	not_after   BIGINT,
	next_try_at BIGINT  NOT NULL, -- when it is requested or renewed; during a request, after which others may
	tried_at    BIGINT,
	failures    INTEGER NOT NULL DEFAULT 0, -- since the last success
	problem     TEXT,            -- of the last attempt
	created_at  BIGINT  NOT NULL
);
CREATE INDEX tls_certificate_due ON tls_certificate (next_try_at);
CREATE INDEX tls_certificate_tried ON tls_certificate (tried_at) WHERE tried_at IS NOT NULL;
CREATE INDEX tls_certificate_failing ON tls_certificate (created_at) WHERE failures > 0;

-- The installation's account at an authority.
CREATE TABLE acme_account (
	directory  TEXT   NOT NULL PRIMARY KEY, -- URL
	sealed     TEXT   NOT NULL,             -- PKCS #8
	created_at BIGINT NOT NULL
);

-- Answers to challenges of an authority, which any process gives.
CREATE TABLE acme_challenge (
	token      TEXT   NOT NULL PRIMARY KEY,
	host       TEXT   NOT NULL,
	answer     TEXT   NOT NULL, -- the key authorization
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX acme_challenge_host ON acme_challenge (host, created_at);
CREATE INDEX acme_challenge_expired ON acme_challenge (expires_at);
