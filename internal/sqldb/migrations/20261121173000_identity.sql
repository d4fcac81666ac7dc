-- +goose Up

-- The secret by which a tenant's site proves who its visitors are (contract 6.7),
-- and the one before it for as long as that still counts.
CREATE TABLE identity_secret (
	tenant_id      TEXT   NOT NULL PRIMARY KEY,
	secret         TEXT   NOT NULL, -- sealed
	created_at     BIGINT NOT NULL,
	previous       TEXT,            -- sealed
	previous_until BIGINT
);

-- What the journal says of bare addresses, found when one is to be forgotten.
CREATE INDEX journal_address ON journal (tenant_id, (data ->> 'email'))
	WHERE type IN ('suppression_added', 'suppression_removed');
