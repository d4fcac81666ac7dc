-- +goose Up

-- Package auth.

-- The address and the user agent of the sign-in that began the session; NULL: not known.
ALTER TABLE session ADD COLUMN ip TEXT;
ALTER TABLE session ADD COLUMN agent TEXT;
