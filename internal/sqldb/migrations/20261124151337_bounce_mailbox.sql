-- +goose Up

-- Package lane.

-- How far the bounce mailbox of a lane has been read. The mailbox itself is in the settings of the
-- lane.
CREATE TABLE bounce_mailbox (
	tenant_id     INTEGER NOT NULL,
	mta_config_id UUID    NOT NULL,
	uid_validity  BIGINT  NOT NULL DEFAULT 0, -- of the mailbox; 0: it was never read
	last_uid      BIGINT  NOT NULL DEFAULT 0, -- of the last message whose effects are stored
	-- When the mailbox is read next. A process that reads it sets this to the end of its lease, and
	-- writes only as long as it finds the time that it has set. 0: at once.
	next_read_at  BIGINT  NOT NULL DEFAULT 0,
	read_at       BIGINT,                     -- when it was last read to the end of a session
	failures      INTEGER NOT NULL DEFAULT 0, -- since then
	last_error    TEXT,                       -- of the last failure since then
	PRIMARY KEY (tenant_id, mta_config_id),
	FOREIGN KEY (tenant_id, mta_config_id) REFERENCES mta_config (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX bounce_mailbox_due ON bounce_mailbox (next_read_at);

INSERT INTO bounce_mailbox (tenant_id, mta_config_id) SELECT tenant_id, id FROM mta_config WHERE bounce_password IS NOT NULL;
