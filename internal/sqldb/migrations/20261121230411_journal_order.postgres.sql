-- +goose Up

-- Entries that were there before have none, and come first.
CREATE SEQUENCE journal_appended;
ALTER TABLE journal ALTER COLUMN appended SET DEFAULT nextval('journal_appended');
DROP INDEX journal_unplaced;
CREATE INDEX journal_unplaced ON journal (appended NULLS FIRST) WHERE pos IS NULL;
