package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

var (
	// ErrLost says that there is no connection to the server. If it broke while a transaction was
	// committed, nobody knows whether it was.
	ErrLost = errors.New("no connection to PostgreSQL")

	// ErrOwned says that another daemon owns the database.
	ErrOwned = errors.New("another daemon owns the database")
)

// explanations say what to do about an error of the server, by the beginning of its code.
var explanations = []struct{ code, text string }{
	{"28", "it refuses the user or the password: correct store.url, or the server's pg_hba.conf"},
	{"3D000", "it has no such database: createdb --template template0 --locale C --encoding UTF8 NAME"},
	{"42501", "its user may not do that: GRANT CREATE ON DATABASE to the user in store.url"},
	{"53100", "the disk of the server is full: make room there, and it goes on by itself"},
	{"53300", "it has too many connections: raise max_connections; earshot needs five"},
	{"53", "the server has no resources: look at its log"},
	{"25006", "it can only be read: name the primary server in store.url, or both"},
	{"57P03", "the server is starting or stopping: it goes on by itself"},
	{"57P", "the server was stopped: start it, and it goes on by itself"},
	{"58", "the disk of the server fails: look at its log"},
}

// Reason returns what is wrong with the server, and what to do; "" if err is not about that. Neither
// has a value from a statement, or a password.
func Reason(err error) string {
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		for _, x := range explanations {
			if strings.HasPrefix(e.Code, x.code) {
				return x.text
			}
		}
		return fmt.Sprintf("it refused a statement (SQLSTATE %s): look at its log", e.Code)
	}
	switch {
	case err == nil:
		return ""
	case strings.Contains(err.Error(), "read only connection"):
		return "it can only be read: promote it, or name the primary server in store.url, or both"
	case isLost(err):
		return "it does not answer: start it, or correct store.url"
	}
	return ""
}

// isLost reports whether an error may go away by connecting again.
func isLost(err error) bool {
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		return strings.HasPrefix(e.Code, "57P") || strings.HasPrefix(e.Code, "53300") || strings.HasPrefix(e.Code, "08")
	}
	return errors.Is(err, ErrLost)
}
