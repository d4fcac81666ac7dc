-- +goose Up

-- Room on each page for the next version of its rows: noting an attempt changes
-- no indexed column, so it then stays on the page (a HOT update).
ALTER TABLE outbox SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE outbox_stream SET (fillfactor = 20);
