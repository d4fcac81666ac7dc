-- +goose Up

-- Package trigger.

-- What follows a segment: a sequence or an automation that is active. existing_since is set while
-- those who were in the segment before that time are yet to be reported to it, up to existing_after.
CREATE TABLE segment_watcher (
	tenant_id      INTEGER NOT NULL,
	segment_id     UUID    NOT NULL,
	holder_id      UUID    NOT NULL,
	kind           TEXT    NOT NULL CHECK (kind IN ('sequence', 'automation')),
	since          BIGINT  NOT NULL,
	existing_since BIGINT,
	existing_after UUID,
	PRIMARY KEY (tenant_id, segment_id, holder_id)
);
CREATE INDEX segment_watcher_holder ON segment_watcher (tenant_id, holder_id);
CREATE INDEX segment_watcher_existing ON segment_watcher (existing_since) WHERE existing_since IS NOT NULL;

-- Segments whose members are known, because something follows them. A watch is being filled with the
-- members that the segment has, in the order of contact ids, until it is ready; it is ending once
-- nothing follows it. A pass compares the members with the rule, in the same order. Both have
-- processed the contacts up to passed. next_at is when engine work is due.
CREATE TABLE segment_watch (
	since      BIGINT  NOT NULL,
	next_at    BIGINT  NOT NULL,
	passed_at  BIGINT  NOT NULL DEFAULT 0, -- when the last pass began
	tenant_id  INTEGER NOT NULL,
	segment_id UUID    NOT NULL,
	passed     UUID,    -- NULL: no pass is under way, or it has processed none
	state      TEXT    NOT NULL CHECK (state IN ('filling', 'ready', 'ending')),
	digest     TEXT    NOT NULL DEFAULT '', -- of the rule at the last pass
	PRIMARY KEY (tenant_id, segment_id)
);
CREATE INDEX segment_watch_next ON segment_watch (next_at);

-- The members of watched segments, as they were last reported. entered_at is 0 for those who were
-- members when the watch began.
CREATE TABLE segment_inside (
	entered_at BIGINT  NOT NULL,
	tenant_id  INTEGER NOT NULL,
	segment_id UUID    NOT NULL,
	contact_id UUID    NOT NULL,
	PRIMARY KEY (tenant_id, segment_id, contact_id)
);
CREATE INDEX segment_inside_contact ON segment_inside (tenant_id, contact_id, segment_id);
