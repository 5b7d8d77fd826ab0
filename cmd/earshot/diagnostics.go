package main

import (
	"context"
	"errors"

	"earshot/server"
)

// Diagnose implements [server.House].
func (h house) Diagnose(context.Context, server.Examination) (any, error) {
	return nil, errors.New("not yet")
}
