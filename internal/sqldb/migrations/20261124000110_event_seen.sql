-- +goose Up

-- Package event.

-- The names of a tenant's custom events. types and properties are objects by the type of activity
-- and by the path of a property (event.trace). At most 1000 names of a tenant (event.Follower). All
-- of a tenant are read at once.
CREATE TABLE event_seen (
	tenant_id  INTEGER NOT NULL,
	name       TEXT    NOT NULL,
	count      BIGINT  NOT NULL,
	last_at    BIGINT  NOT NULL,
	types      JSONB   NOT NULL,
	properties JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, name)
);
