-- +goose Up

-- Templates and blocks. Schemas are JSON that nothing searches: kept as text, so
-- that their keys stay in the order in which they are shown. Bodies come last:
-- what is read without them need not pass over them.
CREATE TABLE template (
	tenant_id    TEXT    NOT NULL,
	id           TEXT    NOT NULL,
	slug         TEXT    NOT NULL,
	name         TEXT    NOT NULL,
	subject      TEXT,
	format       TEXT    NOT NULL CHECK (format IN ('html', 'mjml')),
	inline_css   BOOLEAN NOT NULL,
	parameters   TEXT    NOT NULL,
	sections     TEXT    NOT NULL,
	slots        TEXT    NOT NULL,
	groups       TEXT    NOT NULL,
	expects      TEXT    NOT NULL,
	counts       JSONB   NOT NULL,
	tags         JSONB   NOT NULL,
	created_at   BIGINT  NOT NULL,
	updated_at   BIGINT  NOT NULL,
	content_html TEXT    NOT NULL,
	content_mjml TEXT,
	content_text TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX template_slug ON template (tenant_id, slug);

CREATE TABLE block (
	tenant_id    TEXT    NOT NULL,
	id           TEXT    NOT NULL,
	slug         TEXT    NOT NULL,
	name         TEXT    NOT NULL,
	active       BOOLEAN NOT NULL,
	parameters   TEXT    NOT NULL,
	sections     TEXT    NOT NULL,
	groups       TEXT    NOT NULL,
	tags         JSONB   NOT NULL,
	slot_keys    JSONB   NOT NULL,
	created_at   BIGINT  NOT NULL,
	updated_at   BIGINT  NOT NULL,
	content_html TEXT,
	content_mjml TEXT,
	content_text TEXT,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX block_slug ON block (tenant_id, slug);

-- The library: entries, and what each version of them says, which never changes.
CREATE TABLE library_entry (
	tenant_id       TEXT   NOT NULL,
	id              TEXT   NOT NULL,
	slug            TEXT   NOT NULL,
	name            TEXT   NOT NULL,
	status          TEXT   NOT NULL CHECK (status IN ('draft', 'published', 'archived')),
	tags            JSONB  NOT NULL,
	current_version BIGINT NOT NULL,
	created_at      BIGINT NOT NULL,
	updated_at      BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX library_entry_slug ON library_entry (tenant_id, slug);
CREATE INDEX library_entry_newest ON library_entry (tenant_id, updated_at DESC, id);

CREATE TABLE library_version (
	tenant_id  TEXT   NOT NULL,
	entry_id   TEXT   NOT NULL,
	version    BIGINT NOT NULL,
	id         TEXT   NOT NULL,
	content    TEXT   NOT NULL,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, entry_id, version),
	FOREIGN KEY (tenant_id, entry_id) REFERENCES library_entry (tenant_id, id) ON DELETE CASCADE
);

-- What a broadcast's content was made of. The template and the blocks may be
-- gone since: no foreign keys.
ALTER TABLE broadcast ADD COLUMN body_mjml         TEXT;
ALTER TABLE broadcast ADD COLUMN template_id       TEXT;
ALTER TABLE broadcast ADD COLUMN template_slug     TEXT;
ALTER TABLE broadcast ADD COLUMN template_binding  TEXT;
ALTER TABLE broadcast ADD COLUMN template_snapshot TEXT;
ALTER TABLE broadcast ADD COLUMN authored_subject  TEXT;
ALTER TABLE broadcast ADD COLUMN template_params   TEXT;
ALTER TABLE broadcast ADD COLUMN block_ids         JSONB;
ALTER TABLE broadcast ADD COLUMN message_id        TEXT;
ALTER TABLE broadcast ADD COLUMN message_version   BIGINT;
CREATE INDEX broadcast_template ON broadcast (tenant_id, template_id) WHERE template_id IS NOT NULL;
CREATE INDEX broadcast_message ON broadcast (tenant_id, message_id) WHERE message_id IS NOT NULL;
