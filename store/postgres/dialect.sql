-- What the statements of earshot use of SQLite that PostgreSQL has not. A text of JSON may contain
-- \u0000, which jsonb refuses; nothing is looked for that does.

DO $$ BEGIN
	IF current_setting('server_encoding') <> 'UTF8' OR 'a' < 'B' OR 'é' < 'z' THEN -- texts are compared byte by byte, as in a file
		RAISE EXCEPTION USING ERRCODE = 'EA001';
	END IF;
END $$;

CREATE SCHEMA IF NOT EXISTS earshot;

CREATE OR REPLACE FUNCTION earshot.parsed(text) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS $$ SELECT replace($1, '\u0000', '\ufffd')::jsonb $$;

CREATE OR REPLACE FUNCTION earshot.json_extract(text, text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS $$ SELECT jsonb_path_query_first(earshot.parsed($1), $2::jsonpath) #>> '{}' $$;

CREATE OR REPLACE FUNCTION earshot.json_extract(text, text, VARIADIC text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS $$ SELECT jsonb_agg(jsonb_path_query_first(earshot.parsed($1), p::jsonpath) ORDER BY n)::text FROM unnest($2 || $3) WITH ORDINALITY AS u (p, n) $$;

CREATE OR REPLACE FUNCTION earshot.json_array_length(text, text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS $$ SELECT jsonb_array_length(v) FROM (SELECT jsonb_path_query_first(earshot.parsed($1), $2::jsonpath) AS v) AS f WHERE jsonb_typeof(v) = 'array' $$;

CREATE OR REPLACE FUNCTION earshot.json_each(text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10
	AS $$ SELECT jsonb_array_elements_text(v) FROM (SELECT earshot.parsed($1) AS v) AS f WHERE jsonb_typeof(v) = 'array' $$;

CREATE OR REPLACE FUNCTION earshot.json_each(text, text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 10
	AS $$ SELECT jsonb_array_elements_text(v) FROM (SELECT jsonb_path_query_first(earshot.parsed($1), $2::jsonpath) AS v) AS f WHERE jsonb_typeof(v) = 'array' $$;

CREATE OR REPLACE FUNCTION earshot.max(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS $$ SELECT greatest($1, $2) $$;

CREATE OR REPLACE FUNCTION earshot.min(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS $$ SELECT least($1, $2) $$;
