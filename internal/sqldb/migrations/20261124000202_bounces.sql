-- +goose Up

-- Package outbox.

-- The bounces of a send, newest first: ListBounces.
CREATE INDEX outbox_note_bounces ON outbox_note (tenant_id, send_id, ended_at, message_id) WHERE state = 'bounced';

-- The bounces of a send by class, by domain of the address, and by code of the reply
-- (BounceAttribute).
CREATE TABLE outbox_bounce_sum (
	tenant_id INTEGER NOT NULL,
	send_id   UUID    NOT NULL,
	attribute TEXT    NOT NULL,
	value     TEXT    NOT NULL,
	bounced   BIGINT  NOT NULL DEFAULT 0,
	PRIMARY KEY (tenant_id, send_id, attribute, value)
);

INSERT INTO outbox_bounce_sum (tenant_id, send_id, attribute, value, bounced)
SELECT tenant_id, send_id, 'class', COALESCE(bounce_type, ''), COUNT(*) FROM outbox_note
WHERE state = 'bounced' GROUP BY tenant_id, send_id, COALESCE(bounce_type, '');

INSERT INTO outbox_bounce_sum (tenant_id, send_id, attribute, value, bounced)
SELECT n.tenant_id, n.send_id, 'domain', SUBSTR(m.email, LENGTH(RTRIM(m.email, REPLACE(m.email, '@', ''))) + 1), COUNT(*)
FROM outbox_note AS n JOIN outbox AS m ON m.tenant_id = n.tenant_id AND m.id = n.message_id
WHERE n.state = 'bounced' GROUP BY 1, 2, 4;

INSERT INTO outbox_bounce_sum (tenant_id, send_id, attribute, value, bounced)
SELECT tenant_id, send_id, 'code', TRIM(COALESCE(CAST(smtp_code AS TEXT), '') || ' ' || COALESCE(enhanced_code, '')), COUNT(*) FROM outbox_note
WHERE state = 'bounced' GROUP BY 1, 2, 4;
