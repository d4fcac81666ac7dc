-- +goose Up

-- Every mail touches a contact's activity, and changes no indexed column of it:
-- with room on the page for the next version that is cheap (a HOT update).
ALTER TABLE contact_activity SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
