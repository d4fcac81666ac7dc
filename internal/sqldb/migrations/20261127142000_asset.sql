-- +goose Up

-- Package asset.

-- The images of tenants. Their content is in chunks.
CREATE TABLE asset (
	tenant_id   INTEGER NOT NULL,
	id          UUID    NOT NULL,
	name        TEXT    NOT NULL,
	folded_name TEXT    NOT NULL, -- as it is searched
	media_type  TEXT    NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/gif', 'image/webp')),
	width       BIGINT  NOT NULL,
	height      BIGINT  NOT NULL,
	size        BIGINT  NOT NULL,
	created_at  BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE TABLE asset_chunk (
	tenant_id INTEGER NOT NULL,
	asset_id  UUID    NOT NULL,
	at        BIGINT  NOT NULL, -- offset in the image
	data      BYTEA   NOT NULL,
	PRIMARY KEY (tenant_id, asset_id, at)
);

-- The number and the size of each tenant's images, for their limits.
CREATE TABLE asset_total (
	tenant_id INTEGER NOT NULL PRIMARY KEY,
	files     BIGINT  NOT NULL,
	bytes     BIGINT  NOT NULL
);
