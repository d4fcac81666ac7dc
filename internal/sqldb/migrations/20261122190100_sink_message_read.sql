-- +goose Up

ALTER TABLE sink_message ADD COLUMN stream_id TEXT NOT NULL DEFAULT ''; -- the send it belongs to, or empty
ALTER TABLE sink_message ADD COLUMN read_at BIGINT;
CREATE INDEX sink_message_stream ON sink_message (tenant_id, stream_id, received_at, read_at);
