// Package metrics counts what the house does, for Prometheus.
//
// Nothing here says who, what or where: no name of a person, of an agent, of a room or of
// a device, and no text is ever a label. Each label takes its values from a list that is
// known when the program is built; what is not in it counts as [Other]. So the number of
// series is bounded, whatever people do: see [New].
//
// What counts on the way of a frame or a token allocates nothing and takes no lock that
// anybody holds for long.
package metrics

import (
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"earshot"
)

// Other stands for whatever is not in the list of a label.
const Other = "other"

// stages are the parts of how long a turn takes; see the fields of the same names where turns are
// measured.
var stages = []string{"hear", "decide", "queue", "ask", "first_token", "first_clause", "first_heard", "rest", "wait", "total", "silence"}

// A Lists says which values labels may take that other packages know. Whatever else comes
// counts as [Other].
type Lists struct {
	Reasons []string // of decisions
	Signals []string // that cut
	Parts   []string // that can fail
	Queues  []string // that can drop
}

// outcomes, verdicts and kinds are of the vocabulary.
var (
	outcomes = []string{string(earshot.Completed), string(earshot.Interrupted), string(earshot.Failed), string(earshot.Suppressed)}
	verdicts = []string{string(earshot.Speak), string(earshot.Silent)}
	kinds    = []string{
		string(earshot.KindMessage), string(earshot.KindRevision), string(earshot.KindWithdrawal), string(earshot.KindUtterance),
		string(earshot.KindPresence), string(earshot.KindDecision), string(earshot.KindReply), string(earshot.KindNotice),
		string(earshot.KindMemo), string(earshot.KindMode), string(earshot.KindActor), string(earshot.KindAgent), string(earshot.KindUse),
		string(earshot.KindReminder), string(earshot.KindThought), string(earshot.KindFinding), string(earshot.KindEdit),
		string(earshot.KindSnooze), string(earshot.KindWhose), string(earshot.KindErased), string(earshot.KindSight),
		string(earshot.KindFact), string(earshot.KindSummary),
		string(earshot.KindTask), string(earshot.KindStep), string(earshot.KindSchedule),
	}
)

// The bounds of what is measured, in seconds: what one notices begins at a tenth, what one
// leaves for is a minute.
var (
	talk   = []float64{.001, .005, .01, .025, .05, .1, .2, .3, .5, .75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60, 120}
	commit = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 5}
)

// A Metrics is the counters of one daemon. Its methods may be called from many goroutines;
// a nil one counts nothing.
type Metrics struct {
	registry *prometheus.Registry

	turns     counter
	cuts      counter
	stages    map[string]prometheus.Observer
	decisions map[string]counter // by verdict
	events    counter
	dropped   counter
	outages   counter
	restarts  counter
	commits   prometheus.Observer
	refused   prometheus.Counter
}

// New returns counters that are all at zero, each series of which is there from the
// beginning. Sizes, if not nil, returns how large the journal is, in bytes, with what
// lies beside it; it is asked for each scrape.
func New(version string, l Lists, size func() float64) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), decisions: make(map[string]counter), stages: make(map[string]prometheus.Observer)}
	add := promauto.With(m.registry)
	m.turns = m.counts("turns_total", "Turns that ended, by outcome.", "outcome", outcomes)
	m.cuts = m.counts("cuts_total", "Turns that were cut, by the evidence that somebody wanted the floor.", "signal", l.Signals)
	m.events = m.counts("events_total", "Events that were written into the journal, by kind.", "kind", kinds)
	m.dropped = m.counts("dropped_total", "Things that were dropped since a bounded queue was full, by queue.", "queue", l.Queues)
	m.outages = m.counts("outages_total", "Times that a part of the house was lost, by part.", "part", l.Parts)
	m.restarts = m.counts("restarts_total", "Times that a part of the house was begun again, by part.", "part", l.Parts)
	decided := add.NewCounterVec(prometheus.CounterOpts{Namespace: "earshot", Name: "decisions_total", Help: "Decisions to speak or to keep silent, by verdict and reason."}, []string{"verdict", "reason"})
	for _, v := range append([]string{Other}, verdicts...) {
		m.decisions[v] = newCounter(decided.MustCurryWith(prometheus.Labels{"verdict": v}), "reason", l.Reasons)
	}
	latency := add.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "earshot", Name: "turn_stage_seconds", Help: "How long the stages of turns took.", Buckets: talk,
	}, []string{"stage"})
	for _, s := range stages {
		m.stages[s] = latency.WithLabelValues(s)
	}
	m.commits = add.NewHistogram(prometheus.HistogramOpts{Namespace: "earshot", Name: "journal_commit_seconds", Help: "How long it took to force events to the disk.", Buckets: commit})
	m.refused = add.NewCounter(prometheus.CounterOpts{Namespace: "earshot", Name: "journal_refused_total", Help: "Times that the journal did not take what was to be written."})
	add.NewGauge(prometheus.GaugeOpts{Namespace: "earshot", Name: "build_info", Help: "Which version runs; always 1.", ConstLabels: prometheus.Labels{"version": version}}).Set(1)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if size != nil {
		m.Gauge("journal_bytes", "How large the journal is, with what lies beside it.", size)
	}
	return m
}

// Gauge has a number be told at each scrape, such as how many terminals there are. Of asks
// for it, and returns at once.
func (m *Metrics) Gauge(name, help string, of func() float64) {
	promauto.With(m.registry).NewGaugeFunc(prometheus.GaugeOpts{Namespace: "earshot", Name: name, Help: help}, of)
}

func (m *Metrics) counts(name, help, label string, values []string) counter {
	return newCounter(promauto.With(m.registry).NewCounterVec(prometheus.CounterOpts{Namespace: "earshot", Name: name, Help: help}, []string{label}), label, values)
}

// A counter is a family with one label, of which each value is known.
type counter map[string]prometheus.Counter

func newCounter(v *prometheus.CounterVec, label string, values []string) counter {
	c := make(counter, len(values)+1)
	for _, value := range append([]string{Other}, values...) {
		c[value] = v.With(prometheus.Labels{label: value})
	}
	return c
}

func (c counter) add(value string, n int) {
	one, known := c[value]
	if !known {
		one = c[Other]
	}
	one.Add(float64(n))
}

// Kept counts an event that has been written into the journal, and what it says: how a
// turn ended, or why somebody was to speak.
func (m *Metrics) Kept(e earshot.Event) {
	if m == nil {
		return
	}
	m.events.add(string(e.Body.Kind()), 1)
	switch body := e.Body.(type) {
	case earshot.Reply:
		m.turns.add(string(body.Outcome), 1)
		if body.Cut != nil {
			m.cuts.add(body.Cut.Signal, 1)
		}
	case earshot.Decision:
		by, known := m.decisions[string(body.Verdict)]
		if !known {
			by = m.decisions[Other]
		}
		for _, reason := range body.Reasons {
			by.add(reason, 1)
		}
	}
}

// A Cluster counts what happens to a daemon as one of several.
type Cluster struct {
	lost, fenced prometheus.Counter
	takeovers    prometheus.Observer
}

// Cluster starts the metrics of one of several daemons, with functions that return how many leases it
// holds and how many members are present.
func (m *Metrics) Cluster(held, members func() float64) *Cluster {
	m.Gauge("cluster_leases", "Rooms that this daemon has the lease of.", held)
	m.Gauge("cluster_members", "Daemons that are present, this one among them.", members)
	add := promauto.With(m.registry)
	return &Cluster{
		lost:      add.NewCounter(prometheus.CounterOpts{Namespace: "earshot", Name: "cluster_leases_lost_total", Help: "Leases that were lost, not given up."}),
		fenced:    add.NewCounter(prometheus.CounterOpts{Namespace: "earshot", Name: "cluster_fenced_total", Help: "Times that nothing was written since the room had another owner by then."}),
		takeovers: add.NewHistogram(prometheus.HistogramOpts{Namespace: "earshot", Name: "cluster_takeover_seconds", Help: "How long rooms had nobody at most before this daemon took them over.", Buckets: talk}),
	}
}

// LeaseLost counts a lease that was lost.
func (c *Cluster) LeaseLost() { c.lost.Inc() }

// Fenced counts an append that was refused.
func (c *Cluster) Fenced() { c.fenced.Inc() }

// TakenOver counts a room that was taken over, after having nobody for some time.
func (c *Cluster) TakenOver(after time.Duration) { c.takeovers.Observe(after.Seconds()) }

// Took measures how long a stage of a turn lasted. One that is not known is passed over.
func (m *Metrics) Took(stage string, d time.Duration) {
	if m == nil {
		return
	}
	if of, known := m.stages[stage]; known {
		of.Observe(d.Seconds())
	}
}

// Committed measures how long it took to write into the journal, or counts that it could
// not be done.
func (m *Metrics) Committed(took time.Duration, err error) {
	switch {
	case m == nil:
	case err != nil:
		m.refused.Inc()
	default:
		m.commits.Observe(took.Seconds())
	}
}

// Dropped counts what a queue has dropped since it was full.
func (m *Metrics) Dropped(queue string, n int) {
	if m != nil && n > 0 {
		m.dropped.add(queue, n)
	}
}

// Lost counts that a part was, and Restarted that it was begun again.
func (m *Metrics) Lost(part string) {
	if m != nil {
		m.outages.add(part, 1)
	}
}

// Restarted counts that a part was begun again.
func (m *Metrics) Restarted(part string) {
	if m != nil {
		m.restarts.add(part, 1)
	}
}

// Handler serves the counters in the text format of Prometheus, or in another that the
// request asks for.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second, DisableCompression: true})
}

// Values returns every number of the house itself that is not zero, by name and label, for
// a report of a fault: of what was measured how often, and the mean.
func (m *Metrics) Values() (map[string]float64, error) {
	families, err := m.registry.Gather()
	all := make(map[string]float64)
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "earshot_") {
			continue
		}
		for _, s := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "earshot_")
			for _, l := range s.GetLabel() {
				name += " " + l.GetValue()
			}
			switch {
			case s.Counter != nil && s.Counter.GetValue() != 0:
				all[name] = s.Counter.GetValue()
			case s.Gauge != nil && s.Gauge.GetValue() != 0:
				all[name] = s.Gauge.GetValue()
			case s.Histogram != nil && s.Histogram.GetSampleCount() > 0:
				n := s.Histogram.GetSampleCount()
				all[name+" count"], all[name+" mean"] = float64(n), s.Histogram.GetSampleSum()/float64(n)
			}
		}
	}
	return all, err
}
