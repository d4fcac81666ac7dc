-- +goose Up

-- Every open and click as it came in, and what it was found to be.
CREATE TABLE hit (
	tenant_id     TEXT    NOT NULL,
	id            TEXT    NOT NULL,
	stream_id     TEXT    NOT NULL,
	message_id    TEXT    NOT NULL,
	contact_id    TEXT    NOT NULL,
	kind          TEXT    NOT NULL CHECK (kind IN ('open', 'click')),
	link          BIGINT,
	url           TEXT,
	at            BIGINT  NOT NULL,
	since_sent    BIGINT,
	method        TEXT    NOT NULL,
	agent         TEXT    NOT NULL,
	ip            TEXT    NOT NULL,
	prefetch      BOOLEAN NOT NULL,
	class         TEXT    NOT NULL CHECK (class IN ('pending', 'bot', 'privacy', 'human')),
	rule          TEXT,
	classified_at BIGINT,
	PRIMARY KEY (tenant_id, id)
);
CREATE INDEX hit_pending ON hit (at) WHERE class = 'pending';
CREATE INDEX hit_message ON hit (tenant_id, message_id, at);
CREATE INDEX hit_source ON hit (tenant_id, stream_id, ip, at);
CREATE INDEX hit_clicks ON hit (tenant_id, stream_id, url) WHERE kind = 'click';

-- What is known of one recipient's engagement with one message: a set of flags
-- derived from its hits, kept so that the sums can follow its changes.
CREATE TABLE engagement (
	tenant_id  TEXT   NOT NULL,
	message_id TEXT   NOT NULL,
	stream_id  TEXT   NOT NULL,
	flags      BIGINT NOT NULL,
	PRIMARY KEY (tenant_id, message_id)
);

-- The sums of the flags over a stream: unique recipients each.
CREATE TABLE engagement_sum (
	tenant_id       TEXT   NOT NULL,
	stream_id       TEXT   NOT NULL,
	apparent_opened BIGINT NOT NULL DEFAULT 0,
	verified_opened BIGINT NOT NULL DEFAULT 0,
	human_opened    BIGINT NOT NULL DEFAULT 0,
	confirmed       BIGINT NOT NULL DEFAULT 0,
	bot_opened      BIGINT NOT NULL DEFAULT 0,
	pending_opened  BIGINT NOT NULL DEFAULT 0,
	human_clicked   BIGINT NOT NULL DEFAULT 0,
	bot_clicked     BIGINT NOT NULL DEFAULT 0,
	pending_clicked BIGINT NOT NULL DEFAULT 0,
	unsubscribed    BIGINT NOT NULL DEFAULT 0,
	complained      BIGINT NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, stream_id)
);

-- When the classifier last went over its pending hits.
CREATE TABLE classifier_run (
	name   TEXT   NOT NULL PRIMARY KEY,
	run_at BIGINT NOT NULL
);
