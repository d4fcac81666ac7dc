-- +goose Up

-- Package journal.

-- What entries of one row differ in: also of mails that were sent or delivered together (journal.pack).
ALTER TABLE journal RENAME COLUMN contacts TO packed;
