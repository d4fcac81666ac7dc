-- +goose Up

-- Package outbox.

-- The reply with which a server accepted the message, such as "250 2.0.0 Ok: queued as 4XYZ"; at most
-- 200 bytes. NULL: none did, the reply is older than this column, or it was erased.
ALTER TABLE outbox ADD COLUMN accept_reply TEXT;

-- The attempts in which no server accepted a message: deferred, refused, cut off. The one in which one
-- did is in the row of outbox.
CREATE TABLE outbox_failed_attempt (
	tenant_id  INTEGER NOT NULL,
	message_id UUID    NOT NULL,
	at         BIGINT  NOT NULL, -- when the result came, or if it is unknown, when the attempt began
	lane_id    UUID    NOT NULL,
	smtp_code  INTEGER, -- NULL: no server answered
	reply      TEXT,    -- the enhanced status code and text of the server, or what kept it from answering
	PRIMARY KEY (tenant_id, message_id, at)
);

-- Of attempts before, the refusals are known that ended a message.
INSERT INTO outbox_failed_attempt (tenant_id, message_id, at, lane_id, smtp_code, reply)
SELECT n.tenant_id, n.message_id, n.ended_at, m.lane_id, n.smtp_code, NULLIF(TRIM(COALESCE(n.enhanced_code, '') || ' ' || COALESCE(n.error, '')), '')
FROM outbox_note AS n JOIN outbox AS m ON m.tenant_id = n.tenant_id AND m.id = n.message_id
WHERE n.state = 'bounced' AND n.ended_at = m.sent_at;
