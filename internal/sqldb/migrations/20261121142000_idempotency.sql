-- +goose Up

-- One row per Idempotency-Key that a caller used. Until the request has
-- succeeded, status is NULL and holder names the attempt that runs; when its
-- lease is over, another may take its place.
CREATE TABLE idempotency (
    tenant_id   TEXT   NOT NULL,
    key         TEXT   NOT NULL,
    holder      TEXT   NOT NULL,
    lease_until BIGINT NOT NULL,
    status      BIGINT,
    body        TEXT,
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, key)
);

CREATE INDEX idempotency_expired ON idempotency (tenant_id, expires_at);
