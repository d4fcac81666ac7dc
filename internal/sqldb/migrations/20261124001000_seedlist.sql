-- +goose Up

-- Package seedlist.

-- refreshed_at is the time of the last update of the addresses.
CREATE TABLE seed_list (
	tenant_id            INTEGER NOT NULL,
	id                   UUID    NOT NULL,
	name                 TEXT    NOT NULL,
	vendor_label         TEXT,
	vendor_dashboard_url TEXT,
	include_by_default   BOOLEAN NOT NULL,
	rotation_days        INTEGER CHECK (rotation_days BETWEEN 1 AND 365),
	rotation_grace_days  INTEGER NOT NULL CHECK (rotation_grace_days BETWEEN 0 AND 365),
	refreshed_at         BIGINT,
	created_at           BIGINT  NOT NULL,
	updated_at           BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id)
);
-- Names are unique; the order of the list (All).
CREATE UNIQUE INDEX seed_list_name ON seed_list (tenant_id, name);

-- The sending identities that a list is attached to.
CREATE TABLE seed_list_identity (
	tenant_id    INTEGER NOT NULL,
	seed_list_id UUID    NOT NULL,
	identity_id  UUID    NOT NULL,
	PRIMARY KEY (tenant_id, seed_list_id, identity_id),
	FOREIGN KEY (tenant_id, seed_list_id) REFERENCES seed_list (tenant_id, id) ON DELETE CASCADE,
	FOREIGN KEY (tenant_id, identity_id) REFERENCES sending_identity (tenant_id, id) ON DELETE CASCADE
);
-- Deletion of a sending identity.
CREATE INDEX seed_list_identity_identity ON seed_list_identity (tenant_id, identity_id);

-- The addresses of lists. A retired one stays.
CREATE TABLE seed (
	tenant_id     INTEGER NOT NULL,
	id            UUID    NOT NULL,
	seed_list_id  UUID    NOT NULL,
	email         TEXT    NOT NULL,
	provider      TEXT    NOT NULL CHECK (provider IN ('gmail', 'outlook', 'yahoo', 'aol', 'icloud', 'proton', 'other')),
	status        TEXT    NOT NULL CHECK (status IN ('active', 'paused', 'retired', 'conflict')),
	status_reason TEXT    CHECK (status_reason IN ('contact', 'removed_by_sync', 'retired_by_user', 'hard_bounce')),
	retired_at    BIGINT,
	PRIMARY KEY (tenant_id, id), -- addresses of messages (ByIDs), the round through all (Recheck)
	FOREIGN KEY (tenant_id, seed_list_id) REFERENCES seed_list (tenant_id, id) ON DELETE CASCADE
);
-- An address is in a list once; the order of the list (Seeds).
CREATE UNIQUE INDEX seed_address ON seed (tenant_id, seed_list_id, email);
-- Addresses of new contacts (setConflicts, releaseConflicts).
CREATE INDEX seed_email ON seed (tenant_id, email);
-- The addresses that get copies of a broadcast, page by page (Active).
CREATE INDEX seed_active ON seed (tenant_id, seed_list_id, id) WHERE status = 'active';

-- The updates of lists. Dry runs are not stored. counts has the result without samples.
CREATE TABLE seed_sync (
	tenant_id    INTEGER NOT NULL,
	id           UUID    NOT NULL,
	seed_list_id UUID    NOT NULL,
	kind         TEXT    NOT NULL CHECK (kind IN ('replace', 'changes')),
	actor        JSONB   NOT NULL,
	counts       JSONB   NOT NULL,
	created_at   BIGINT  NOT NULL,
	PRIMARY KEY (tenant_id, id),
	FOREIGN KEY (tenant_id, seed_list_id) REFERENCES seed_list (tenant_id, id) ON DELETE CASCADE
);
-- The updates of a list, newest first (Syncs), and the deletion of old ones (prune).
CREATE INDEX seed_sync_newest ON seed_sync (tenant_id, seed_list_id, created_at, id);

-- The addresses that updates report, up to ten of each kind.
CREATE TABLE seed_sync_sample (
	tenant_id INTEGER NOT NULL,
	sync_id   UUID    NOT NULL,
	kind      TEXT    NOT NULL CHECK (kind IN ('held_as_contact', 'invalid', 'hand_retired', 'provider_corrections')),
	n         INTEGER NOT NULL, -- its place in the sample
	entry     TEXT    NOT NULL,
	PRIMARY KEY (tenant_id, sync_id, kind, n),
	FOREIGN KEY (tenant_id, sync_id) REFERENCES seed_sync (tenant_id, id) ON DELETE CASCADE
);
-- Erasure of the addresses of anonymised contacts.
CREATE INDEX seed_sync_sample_entry ON seed_sync_sample (tenant_id, entry);
