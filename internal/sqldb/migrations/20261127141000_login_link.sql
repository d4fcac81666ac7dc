-- +goose Up

-- Package auth.

-- Links that sign a user in, once. Only the SHA-256 of the token is stored.
CREATE TABLE login_link (
	token_hash TEXT   NOT NULL PRIMARY KEY,
	user_id    UUID   NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX login_link_user ON login_link (user_id);
CREATE INDEX login_link_expiry ON login_link (expires_at);
