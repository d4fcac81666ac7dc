-- +goose Up

-- What a text says when it is a date as YYYY-MM-DD; else null. Both functions
-- read what their namesakes read that the program gives to SQLite.
-- +goose StatementBegin
CREATE FUNCTION day_of(t TEXT) RETURNS TEXT LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
	s TEXT := btrim(t, E' \t\n\v\f\r');
BEGIN
	IF s !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' OR left(s, 4) = '0000' THEN
		RETURN NULL;
	END IF;
	IF substr(s, 9)::INT > EXTRACT(DAY FROM make_date(left(s, 4)::INT, substr(s, 6, 2)::INT, 1) + INTERVAL '1 month - 1 day') THEN
		RETURN NULL;
	END IF;
	RETURN s;
END $$;
-- +goose StatementEnd

-- The microseconds of a date-time of RFC 3339; without an offset it is UTC, a
-- space may stand for the T, and the seconds may be missing. Else null.
-- +goose StatementBegin
CREATE FUNCTION moment_of(t TEXT) RETURNS BIGINT LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
	s      TEXT := btrim(t, E' \t\n\v\f\r');
	day    DATE;
	micros BIGINT;
	zone   TEXT;
BEGIN
	IF s !~ '^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?$'
		OR day_of(left(s, 10)) IS NULL THEN
		RETURN NULL;
	END IF;
	day := make_date(left(s, 4)::INT, substr(s, 6, 2)::INT, substr(s, 9, 2)::INT);
	micros := ((day - DATE '1970-01-01')::BIGINT * 1440 + substr(s, 12, 2)::INT * 60 + substr(s, 15, 2)::INT) * 60000000;
	IF substr(s, 17, 1) = ':' THEN
		micros := micros + substr(s, 18, 2)::INT * 1000000 + rpad(left(COALESCE(substring(s FROM '\.([0-9]+)'), ''), 6), 6, '0')::INT;
	END IF;
	zone := substring(s FROM '[+-][0-9]{2}:[0-9]{2}$');
	IF zone IS NOT NULL THEN
		micros := micros - (left(zone, 1) || '1')::INT * (substr(zone, 2, 2)::INT * 60 + substr(zone, 5)::INT) * 60000000::BIGINT;
	END IF;
	RETURN micros;
END $$;
-- +goose StatementEnd
