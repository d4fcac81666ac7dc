-- +goose Up

-- Package destination.

-- What processes found out about the destinations of direct delivery, seen from one of the
-- installation's addresses. Times are 0 if there is none; backoff is in microseconds.
CREATE TABLE destination (
	source          TEXT    NOT NULL,
	site            TEXT    NOT NULL,
	suspended_until BIGINT  NOT NULL,
	reason          TEXT    NOT NULL,
	slow_at         BIGINT  NOT NULL,
	hint_at         BIGINT  NOT NULL,
	tls_required_at BIGINT  NOT NULL,
	down_at         BIGINT  NOT NULL,
	retry_at        BIGINT  NOT NULL,
	backoff         BIGINT  NOT NULL,
	changed_at      BIGINT  NOT NULL,
	PRIMARY KEY (source, site)
);

CREATE INDEX destination_changed_at ON destination (changed_at);

-- Mail servers with which TLS failed.
CREATE TABLE destination_broken_tls (
	host      TEXT   NOT NULL PRIMARY KEY,
	failed_at BIGINT NOT NULL
);

CREATE INDEX destination_broken_tls_failed_at ON destination_broken_tls (failed_at);
