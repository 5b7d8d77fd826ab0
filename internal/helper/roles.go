package helper

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// A Role is one job of a helper that has several.
type Role struct {
	// Work does the job until the input closes. Args follow the role on the command line.
	Work func(ctx context.Context, s *Server, args []string) error

	// Check reports whether the job could be done here, with the args that Work would have.
	Check func(args []string) RoleCheck
}

// A RoleCheck is what a helper says about one of its roles.
type RoleCheck struct {
	Role  string `json:"role"` // filled in by Run
	Works bool   `json:"works"`
	Text  string `json:"text"`           // what works, with its version, or why it does not
	Cure  string `json:"cure,omitempty"` // what mends it
}

// Roles are those of a program, which has this name.
type Roles struct {
	Program string
	All     map[string]Role
}

// Run runs the role that args begin with, on the standard files of the process, and returns its exit
// code. With check instead of a role it prints, as JSON, what works on this machine. Standard output
// is reserved for the protocol before any library can print there.
func (r Roles) Run(ctx context.Context, args []string, in, out, errs *os.File) int {
	names := slices.Sorted(maps.Keys(r.All))
	if len(args) > 0 && args[0] == "check" {
		return r.check(names, args[1:], out)
	}
	if len(args) == 0 || r.All[args[0]].Work == nil {
		fmt.Fprintf(errs, "%s: say which role: %s; or check\n", r.Program, strings.Join(names, ", "))
		return 2
	}
	name, work := r.Program+" "+args[0], r.All[args[0]].Work
	err := Serve(ctx, name, Stdio(in, out), func(ctx context.Context, s *Server) error { return work(ctx, s, args[1:]) })
	if err != nil {
		fmt.Fprintf(errs, "%s: %v\n", name, err)
		return 1
	}
	return 0
}

// check prints what works.
func (r Roles) check(names, args []string, out io.Writer) int {
	checks := []RoleCheck{}
	for _, name := range names {
		c := r.All[name].Check(args)
		c.Role = name
		checks = append(checks, c)
	}
	if err := json.NewEncoder(out).Encode(checks); err != nil {
		return 1
	}
	return 0
}
