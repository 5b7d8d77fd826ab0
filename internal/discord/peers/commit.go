package peers

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
)

//go:embed commit.cjs
var commits string

// Commits returns how many milliseconds davey takes to add a member to a group of a size, for a
// number of repetitions.
func Commits(ctx context.Context, members, rounds int) (times []float64, err error) {
	c, err := Command(ctx, commits, strconv.Itoa(members), strconv.Itoa(rounds))
	if err != nil {
		return nil, err
	}
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("measuring davey: %w", err)
	}
	return times, json.Unmarshal(out, &times)
}

// PID is the ID of the peer's process.
func (p *Peer) PID() int { return p.command.Process.Pid }
