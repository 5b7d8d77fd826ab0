package membership

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"earshot/api"
	"earshot/internal/usage"
	"earshot/internal/wait"
)

const (
	// shareInterval is how often daemons tell each other what their models have cost: a budget of all is
	// exceeded by what is spent in that time at most.
	shareInterval = 2 * time.Second

	// sharedCosts is how many bytes are read of what another daemon tells. A day has fewer.
	sharedCosts = 64 << 10
)

// shareCosts has all daemons know what their models have cost today, and counts those that are present, until
// ctx ends.
func (m *Membership) shareCosts(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, shareInterval)
		err := m.SyncCosts(bounded)
		cancel()
		if err != nil && !failed && ctx.Err() == nil {
			m.Log.Warn("what models cost at other daemons is not known at present", "err", err)
		}
		failed = err != nil
		m.present.Store(int64(len(m.Members())))
		wait.For(ctx, shareInterval)
	}
}

// SyncCosts writes what models have cost here today, and reads what they have cost at other daemons. What
// cannot be read stays as it was.
func (m *Membership) SyncCosts(ctx context.Context) error {
	here := m.with.Costs.Here()
	data, err := usage.Format(here)
	if err != nil {
		return err
	}
	m.syncing.Lock()
	defer m.syncing.Unlock()
	name := m.with.Settings().Cluster.Name
	if !bytes.Equal(data, m.written) {
		_, err := m.DB.ExecContext(ctx, `INSERT INTO model_costs (member, day, content) VALUES (?, ?, ?)
			ON CONFLICT (member) DO UPDATE SET day = excluded.day, content = excluded.content`, name, here.Date, data)
		if err != nil {
			return err
		}
		m.written = data
	}
	rows, err := m.DB.QueryContext(ctx, "SELECT member, substr(content, 1, ?::int) FROM model_costs WHERE day = ? AND member <> ?", sharedCosts, here.Date, name)
	if err != nil {
		return err
	}
	defer rows.Close()
	there, wrong := make(map[string]api.UsageDay), error(nil)
	for rows.Next() {
		var member string
		if err := rows.Scan(&member, &data); err != nil {
			return err
		}
		ledger, err := usage.Read(data)
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("reading the costs of %s: %w", member, err))
			there[member] = m.elsewhere[member]
			continue
		}
		there[member] = ledger.Days(time.Now(), 1)[0]
	}
	if err := rows.Err(); err != nil {
		return err
	}
	m.elsewhere = there
	m.with.Costs.SetElsewhere(slices.Collect(maps.Values(there)))
	return wrong
}
