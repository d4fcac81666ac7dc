-- +goose Up

-- People. They belong to the installation, not to a tenant.
CREATE TABLE app_user (
	id            TEXT   NOT NULL PRIMARY KEY,
	email         TEXT   NOT NULL,
	name          TEXT   NOT NULL,
	password_hash TEXT,             -- null until a password is chosen
	created_at    BIGINT NOT NULL,
	last_login_at BIGINT
);
CREATE UNIQUE INDEX app_user_email ON app_user (email);

-- Who works in which tenant, and as what.
CREATE TABLE membership (
	tenant_id  TEXT   NOT NULL,
	user_id    TEXT   NOT NULL REFERENCES app_user (id),
	role       TEXT   NOT NULL CHECK (role IN ('viewer', 'editor', 'admin', 'owner')),
	status     TEXT   NOT NULL CHECK (status IN ('invited', 'active', 'disabled')),
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX membership_user ON membership (user_id);

-- Browser sessions; only the SHA-256 of the cookie's value is kept.
CREATE TABLE session (
	token_hash TEXT   NOT NULL PRIMARY KEY,
	id         TEXT   NOT NULL,
	user_id    TEXT   NOT NULL REFERENCES app_user (id),
	created_at BIGINT NOT NULL,
	seen_at    BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX session_by_id ON session (id);
CREATE INDEX session_by_user ON session (user_id);
CREATE INDEX session_expiry ON session (expires_at);

-- Links that work once: setup, password resets, invitations.
CREATE TABLE one_time_token (
	token_hash TEXT   NOT NULL PRIMARY KEY,
	purpose    TEXT   NOT NULL CHECK (purpose IN ('setup', 'reset', 'invite')),
	user_id    TEXT,
	tenant_id  TEXT,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX one_time_token_user ON one_time_token (user_id);
CREATE INDEX one_time_token_expiry ON one_time_token (expires_at);

-- API keys; only the SHA-256 of the key is kept. lookup_id is the part of the
-- key by which its row is found. After a rotation the previous secret may stay
-- valid for a grace.
CREATE TABLE api_key (
	tenant_id       TEXT   NOT NULL,
	id              TEXT   NOT NULL,
	lookup_id       TEXT   NOT NULL,
	key_hash        TEXT   NOT NULL,
	previous_hash   TEXT,
	previous_until  BIGINT,
	name            TEXT   NOT NULL,
	scopes          JSONB  NOT NULL,
	created_by_id   TEXT,
	created_by_name TEXT,
	created_at      BIGINT NOT NULL,
	expires_at      BIGINT,
	last_used_at    BIGINT,
	revoked_at      BIGINT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX api_key_lookup ON api_key (lookup_id);

-- Who changed what.
CREATE TABLE audit (
	tenant_id   TEXT   NOT NULL,
	id          TEXT   NOT NULL,
	actor_type  TEXT   NOT NULL,
	actor_id    TEXT   NOT NULL,
	actor_name  TEXT   NOT NULL,
	action      TEXT   NOT NULL,
	target_type TEXT   NOT NULL,
	target_id   TEXT   NOT NULL,
	ip          TEXT,
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX audit_time ON audit (tenant_id, created_at, id);
CREATE INDEX audit_age ON audit (created_at);
