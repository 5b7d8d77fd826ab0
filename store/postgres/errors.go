package postgres

import (
	"context"
	"crypto/tls"
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

// An Error says what is wrong with the server, and what to do. It leaves out what the server says, which
// may repeat a value.
type Error struct {
	text  string
	lost  bool // it is an [ErrLost]
	again bool // connecting again may help
	code  string
}

func (e *Error) Error() string { return e.text }

// SQLState returns the code of an error of the server, or "".
func (e *Error) SQLState() string { return e.code }

func (e *Error) Is(target error) bool { return e.lost && target == ErrLost }

// explanations say what to do about an error of the server, by the beginning of its code.
var explanations = []struct {
	code, text string
	again      bool
}{
	{"08", "the connection broke: look at the network between", true},
	{"25006", "it can only be read: name the primary server in store.url, or both", true},
	{"28", "it refuses the user or the password: correct store.url, or the server's pg_hba.conf", false},
	{"3D000", "there is no such database: createdb --template template0 --locale C --encoding UTF8 NAME", false},
	{"EA001", "it is not in UTF-8, or sorts texts in the order of a language: make another by createdb --template template0 --locale C --encoding UTF8 NAME", false}, // see dialect.sql
	{"42704", "it is older than PostgreSQL 12: update it", false},
	{"42501", "its user may not do that: GRANT CREATE ON DATABASE to the user in store.url", false},
	{"53100", "the disk of the server is full: make room there, and it goes on by itself", false},
	{"53300", "it has too many connections: raise max_connections; earshot needs six, or twelve if several share the database", true},
	{"53", "the server lacks something that it needs: look at its log", false},
	{"57P", "the server is starting or stopping: start it if it does not go on by itself", true},
	{"58", "the disk of the server fails: look at its log", false},
}

// explain returns the [Error] for one of pgx, or the end of ctx. lost says that the connection is.
func explain(ctx context.Context, err error, lost bool) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		for _, x := range explanations {
			if strings.HasPrefix(e.Code, x.code) {
				return &Error{x.text, lost, x.again, e.Code}
			}
		}
		return &Error{fmt.Sprintf("it refused a statement (SQLSTATE %s): look at its log", e.Code), lost, false, e.Code}
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case untrusted:
		return &Error{"its certificate is not trusted, or is another host's: name its authority by sslrootcert in store.url", lost, true, ""}
	case strings.Contains(err.Error(), "refused TLS"):
		return &Error{"it does not encrypt: set ssl = on there, or sslmode in store.url", lost, true, ""}
	case strings.Contains(err.Error(), "read only connection"):
		return &Error{"it can only be read: promote it, or name the primary server in store.url, or both", lost, true, ""}
	case lost:
		return &Error{"it does not answer: start it, or correct store.url", true, true, ""}
	}
	return &Error{"its answer was not understood: update earshot", false, false, ""}
}
