-- +goose Up

-- Package outbox.

-- The mail provider of the recipients of a mix when their messages were queued; NULL: unknown.
ALTER TABLE outbox_mix ADD COLUMN provider TEXT;

-- The sums of a send by mix: results by variant, sender and provider (LoadMixSums).
CREATE TABLE outbox_mix_sum (
	tenant_id INTEGER NOT NULL,
	send_id   UUID    NOT NULL,
	n         INTEGER NOT NULL, -- outbox_mix.n
	total     BIGINT  NOT NULL DEFAULT 0,
	sent      BIGINT  NOT NULL DEFAULT 0,
	delivered BIGINT  NOT NULL DEFAULT 0,
	bounced   BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, send_id, n)
);

-- The sums of a send by time, in intervals of 15 minutes: hours and days of each time zone consist of
-- whole ones.
CREATE TABLE outbox_time_sum (
	tenant_id INTEGER NOT NULL,
	send_id   UUID    NOT NULL,
	at        BIGINT  NOT NULL, -- beginning of the interval
	sent      BIGINT  NOT NULL DEFAULT 0,
	delivered BIGINT  NOT NULL DEFAULT 0,
	bounced   BIGINT  NOT NULL DEFAULT 0,
	failed    BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, send_id, at)
);
-- A tenant's sums between two times, of all sends: report.Overview.
CREATE INDEX outbox_time_sum_at ON outbox_time_sum (tenant_id, at);

INSERT INTO outbox_mix_sum (tenant_id, send_id, n, total, sent, delivered, bounced)
SELECT tenant_id, send_id, mix, COUNT(*), SUM(CASE WHEN state IN ('sent', 'delivered', 'bounced') THEN 1 ELSE 0 END),
	SUM(CASE WHEN state IN ('sent', 'delivered') THEN 1 ELSE 0 END), SUM(CASE WHEN state = 'bounced' THEN 1 ELSE 0 END)
FROM outbox GROUP BY tenant_id, send_id, mix;

INSERT INTO outbox_time_sum (tenant_id, send_id, at, sent, delivered, bounced, failed)
SELECT m.tenant_id, m.send_id, COALESCE(m.sent_at, n.ended_at) - COALESCE(m.sent_at, n.ended_at) % 900000000,
	SUM(CASE WHEN m.state IN ('sent', 'delivered', 'bounced') THEN 1 ELSE 0 END),
	SUM(CASE WHEN m.state IN ('sent', 'delivered') THEN 1 ELSE 0 END),
	SUM(CASE WHEN m.state = 'bounced' THEN 1 ELSE 0 END), SUM(CASE WHEN m.state = 'failed' THEN 1 ELSE 0 END)
FROM outbox AS m LEFT JOIN outbox_note AS n ON n.tenant_id = m.tenant_id AND n.message_id = m.id
WHERE m.state IN ('sent', 'delivered', 'bounced', 'failed') AND COALESCE(m.sent_at, n.ended_at) IS NOT NULL
GROUP BY m.tenant_id, m.send_id, COALESCE(m.sent_at, n.ended_at) - COALESCE(m.sent_at, n.ended_at) % 900000000;

-- Package track.

-- The program and the kind of device that made the request; NULL: unknown. They are stored because
-- the agent is deleted before the hit.
ALTER TABLE hit ADD COLUMN client TEXT;
-- Whether the hit came when the report of its send was closed, and therefore is in no sum.
ALTER TABLE hit ADD COLUMN late BOOLEAN NOT NULL DEFAULT FALSE;

-- The clicks of a send by link and time: rules about a link, the first and the last click of a link
-- (link_sum). It replaces an index without the time.
DROP INDEX hit_clicks;
CREATE INDEX hit_clicks ON hit (tenant_id, send_id, url, at) WHERE kind = 'click';

ALTER TABLE engagement ADD COLUMN mix INTEGER NOT NULL DEFAULT 0; -- of the message: outbox_mix.n
-- The country of the contact when the message was first opened or clicked; NULL: unknown.
ALTER TABLE engagement ADD COLUMN country TEXT;
ALTER TABLE engagement ADD COLUMN unsubscribed_at BIGINT;
ALTER TABLE engagement ADD COLUMN complained_at BIGINT;

UPDATE engagement SET mix = COALESCE((
	SELECT m.mix FROM outbox AS m WHERE m.tenant_id = engagement.tenant_id AND m.id = engagement.message_id), 0);

-- The sums of flags are stored by mix too. The flags are the bits of engagement.flags in the order
-- of the columns.
DROP TABLE engagement_sum;
CREATE TABLE engagement_sum (
	tenant_id       INTEGER NOT NULL,
	send_id         UUID    NOT NULL,
	part            INTEGER NOT NULL,
	mix             INTEGER NOT NULL,
	apparent_opened BIGINT  NOT NULL DEFAULT 0,
	verified_opened BIGINT  NOT NULL DEFAULT 0,
	human_opened    BIGINT  NOT NULL DEFAULT 0,
	confirmed       BIGINT  NOT NULL DEFAULT 0,
	bot_opened      BIGINT  NOT NULL DEFAULT 0,
	pending_opened  BIGINT  NOT NULL DEFAULT 0,
	human_clicked   BIGINT  NOT NULL DEFAULT 0,
	bot_clicked     BIGINT  NOT NULL DEFAULT 0,
	pending_clicked BIGINT  NOT NULL DEFAULT 0,
	unsubscribed    BIGINT  NOT NULL DEFAULT 0,
	complained      BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, send_id, part, mix)
);
INSERT INTO engagement_sum (tenant_id, send_id, part, mix, apparent_opened, verified_opened, human_opened, confirmed,
	bot_opened, pending_opened, human_clicked, bot_clicked, pending_clicked, unsubscribed, complained)
SELECT tenant_id, send_id, 0, mix, SUM(flags & 1), SUM((flags >> 1) & 1), SUM((flags >> 2) & 1), SUM((flags >> 3) & 1),
	SUM((flags >> 4) & 1), SUM((flags >> 5) & 1), SUM((flags >> 6) & 1), SUM((flags >> 7) & 1), SUM((flags >> 8) & 1),
	SUM((flags >> 9) & 1), SUM((flags >> 10) & 1)
FROM engagement GROUP BY tenant_id, send_id, mix;

-- First opens and clicks, unsubscribes and complaints of a send by time, in intervals of 15 minutes.
CREATE TABLE engagement_time_sum (
	tenant_id       INTEGER NOT NULL,
	send_id         UUID    NOT NULL,
	at              BIGINT  NOT NULL, -- beginning of the interval
	verified_opened BIGINT  NOT NULL DEFAULT 0,
	human_opened    BIGINT  NOT NULL DEFAULT 0,
	human_clicked   BIGINT  NOT NULL DEFAULT 0,
	unsubscribed    BIGINT  NOT NULL DEFAULT 0,
	complained      BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, send_id, at)
);
-- A tenant's sums between two times, of all sends: report.Overview.
CREATE INDEX engagement_time_sum_at ON engagement_time_sum (tenant_id, at);

-- Recipients of a send who opened or clicked, by the value of an attribute: the mail program, the
-- kind of device, the country, and the time since the message was accepted (track.Attribute).
CREATE TABLE engagement_attribute_sum (
	tenant_id INTEGER NOT NULL,
	send_id   UUID    NOT NULL,
	attribute TEXT    NOT NULL,
	value     TEXT    NOT NULL,
	opened    BIGINT  NOT NULL DEFAULT 0,
	clicked   BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, send_id, attribute, value)
);

-- Clicks by people on the links of a send.
CREATE TABLE link_sum (
	tenant_id     INTEGER NOT NULL,
	send_id       UUID    NOT NULL,
	url           TEXT    NOT NULL, -- as authored
	unique_clicks BIGINT  NOT NULL DEFAULT 0, -- recipients
	total_clicks  BIGINT  NOT NULL DEFAULT 0,
	first_at      BIGINT,
	last_at       BIGINT,
	PRIMARY KEY (tenant_id, send_id, url)
);
INSERT INTO link_sum (tenant_id, send_id, url, unique_clicks, total_clicks, first_at, last_at)
SELECT tenant_id, send_id, url, COUNT(DISTINCT message_id), COUNT(*), MIN(at), MAX(at)
FROM hit WHERE kind = 'click' AND class = 'human' GROUP BY tenant_id, send_id, url;

-- Package report.

-- Answers of metrics-bulk, by broadcast's send.
CREATE TABLE report_cache (
	tenant_id   INTEGER NOT NULL,
	send_id     UUID    NOT NULL,
	computed_at BIGINT  NOT NULL,
	live        BOOLEAN NOT NULL,
	document    JSONB   NOT NULL,
	PRIMARY KEY (tenant_id, send_id)
);
