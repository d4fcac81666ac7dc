-- +goose Up

-- When it was proven that the user holds the address: a link that was mailed to
-- it was followed, or the operator made the login. Null: nobody has shown it.
ALTER TABLE app_user ADD COLUMN proven_at BIGINT;

-- The login changed hands without proof after this tenant let it in. The
-- membership opens nothing until the login is proven or the tenant adds it anew.
ALTER TABLE membership ADD COLUMN withheld BOOLEAN NOT NULL DEFAULT false;

-- Whether following the link proves that the user holds the address: it was
-- mailed there and shown to nobody else.
ALTER TABLE one_time_token ADD COLUMN proves BOOLEAN NOT NULL DEFAULT false;

-- From where users signed in lately. Strangers who guess at the passwords of an
-- address cannot keep its user out there.
CREATE TABLE login_address (
	user_id TEXT   NOT NULL REFERENCES app_user (id),
	address TEXT   NOT NULL, -- of IPv6 the /64
	seen_at BIGINT NOT NULL,
	PRIMARY KEY (user_id, address)
);
CREATE INDEX login_address_age ON login_address (seen_at);
