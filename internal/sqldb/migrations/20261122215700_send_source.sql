-- +goose Up
-- A send has an id of its own, and names what it belongs to: a broadcast, or a
-- step of a sequence. Sends that were begun before keep the id of their broadcast.
ALTER TABLE outbox_stream RENAME COLUMN kind TO source_kind;
ALTER TABLE outbox_stream ADD COLUMN source_id TEXT;
UPDATE outbox_stream SET source_id = id;
CREATE INDEX outbox_stream_source ON outbox_stream (tenant_id, source_kind, source_id);

ALTER TABLE broadcast ADD COLUMN send_id TEXT;
UPDATE broadcast SET send_id = id;
ALTER TABLE broadcast_run ADD COLUMN send_id TEXT;
UPDATE broadcast_run SET send_id = broadcast_id;
CREATE UNIQUE INDEX broadcast_send ON broadcast (tenant_id, send_id);

-- What happened to a broadcast is named by its id; what happened to a mail
-- belongs to a send.
UPDATE journal SET name = broadcast_id, broadcast_id = NULL WHERE type LIKE 'broadcast_%';
ALTER TABLE journal RENAME COLUMN broadcast_id TO send_id;
