-- +goose Up

-- Table leader has what it was for.
DROP TABLE lease;
