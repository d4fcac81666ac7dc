-- +goose Up

-- No two messages share a key of these, so all that PostgreSQL ever finds to fold
-- in their pages are versions of one message; trying to took a quarter of the time
-- of giving messages their times.
ALTER INDEX outbox_pkey SET (deduplicate_items = off);
ALTER INDEX outbox_contact SET (deduplicate_items = off);
ALTER INDEX outbox_due SET (deduplicate_items = off);
ALTER INDEX outbox_rank SET (deduplicate_items = off);
