-- +goose Up

-- Package sequence. The steps of the enrollment, oldest first, in the form of sequence.record: at most the newest of them.
-- NULL: it has made none since this column exists.
ALTER TABLE enrollment ADD COLUMN steps TEXT;
