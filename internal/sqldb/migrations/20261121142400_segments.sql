-- +goose Up

CREATE TABLE segment (
	tenant_id                 TEXT   NOT NULL,
	id                        TEXT   NOT NULL,
	segment_key               TEXT   NOT NULL,
	name                      TEXT   NOT NULL,
	type                      TEXT   NOT NULL,
	definition                JSONB,
	tags                      JSONB  NOT NULL,
	system_key                TEXT,
	member_count              BIGINT,
	member_count_total        BIGINT,
	member_count_evaluated_at BIGINT,
	created_at                BIGINT NOT NULL,
	updated_at                BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX segment_key ON segment (tenant_id, segment_key);

-- Who is on a static list.
CREATE TABLE segment_member (
	tenant_id  TEXT   NOT NULL,
	segment_id TEXT   NOT NULL,
	contact_id TEXT   NOT NULL,
	added_at   BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, segment_id, contact_id),
	FOREIGN KEY (tenant_id, segment_id) REFERENCES segment (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX segment_member_added ON segment_member (tenant_id, segment_id, added_at, contact_id);
CREATE INDEX segment_member_contact ON segment_member (tenant_id, contact_id);
