-- +goose Up

-- Rows are inserted and deleted within a second, many of them, or are updated with each request.
ALTER TABLE visitor_inbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
ALTER TABLE visitor_kept SET (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE visitor SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE visitor_total SET (fillfactor = 20);
