package scene

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/conversation"
)

// A View is the scene as the members of an audience may see it.
type View struct {
	scene *Scene
	to    earshot.Audience
	by    earshot.ParticipantID // see As
}

// For returns the scene as every member of a may see it.
func (s *Scene) For(a earshot.Audience) View { return View{scene: s, to: a} }

// As returns the view for an agent's prompt: it shows the state of no other agent.
func (v View) As(agent earshot.ParticipantID) View {
	v.by = agent
	return v
}

// shows reports whether the view shows i.
func (v View) shows(i Item) bool {
	return i.Visibility.Allows(v.to) && (v.by == "" || i.Field != Agent || i.Of == v.by)
}

// Items returns the entries of f, the oldest first. If there are too many, it keeps the newest of
// those that the view shows, so entries that only others see displace nothing.
func (v View) Items(f Field) []Item {
	v.scene.mu.Lock()
	items := trim(slices.DeleteFunc(v.scene.items(f), func(i Item) bool { return !v.shows(i) }), f)
	v.scene.mu.Unlock()
	for k := range items {
		if items[k].By != "" || f == Messages { // these are somebody's words, whoever it was
			items[k].Name = v.scene.called(items[k].By)
		}
		if items[k].Mended != "" {
			items[k].Mender = v.scene.called(items[k].Mended)
		}
	}
	return items
}

// called returns somebody's name.
func (s *Scene) called(id earshot.ParticipantID) string {
	if s.Name == nil {
		return string(id)
	}
	return s.Name(id)
}

// items returns the entries of f: those of the journal, and the observations that nobody has
// corrected.
func (s *Scene) items(f Field) (all []Item) {
	for _, e := range s.layer(f).entries {
		if !e.gone && !s.overrules(f, e.Item) {
			all = append(all, e.Item)
		}
	}
	for _, seen := range s.seen[f] {
		if e := s.find(f, seen.ID); e == nil || seen.over == e.Event {
			all = append(all, seen.Item)
		}
	}
	if len(s.seen[f]) > 0 {
		slices.SortStableFunc(all, func(a, b Item) int { return a.At.Compare(b.At) })
	}
	return all
}

// trim drops the oldest entries until the field is within its bound. Stale findings go first, then
// used ones, then the least sure.
func trim(items []Item, f Field) []Item {
	b, bytes := bounds[f], 0
	for _, i := range items {
		bytes += len(i.Text)
	}
	for len(items) > b.entries || bytes > b.bytes {
		k := 0
		if f == Reasoning {
			k = leastOf(items)
		}
		bytes -= len(items[k].Text)
		items = slices.Delete(items, k, k+1)
	}
	return items
}

// leastOf returns the index of the most dispensable finding, judged at the time of the newest one.
func leastOf(items []Item) int {
	now, least := items[len(items)-1].At, 0
	for k, a := range items {
		b := items[least]
		if cmp.Or(yes(b.Stale(now))-yes(a.Stale(now)), yes(b.Used)-yes(a.Used), cmp.Compare(a.Confidence, b.Confidence)) < 0 {
			least = k
		}
	}
	return least
}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Stale reports whether i is a finding that no longer holds at now.
func (i Item) Stale(now time.Time) bool { return !i.Until.IsZero() && !i.Until.After(now) }

const (
	// unseen is how long a continuous sense may be silent before the prompt says that it has
	// observed nothing since: a camera looks at least once a second.
	unseen = 5 * time.Second

	// forgotten is how long the prompt still says what that sense saw last.
	forgotten = time.Hour
)

// Unseen reports whether i is an observation of a continuous sense that has since been silent for a
// while. It may no longer be true, and is never shown as if it were.
func (i Item) Unseen(age time.Duration) bool { return i.Watched && age >= unseen }

// Recent returns the entries of all fields as a prompt shows them at now. What was heard and seen
// is included only if it is younger than window, except for the last observation of a continuous
// sense. Stale findings are left out.
func (v View) Recent(now time.Time, window time.Duration) (items []Item) {
	for _, f := range Fields() {
		for _, i := range v.Items(f) {
			age := now.Sub(i.At)
			if (f == Messages || f == Visual) && !i.Watched && age > window || i.Watched && age > forgotten || i.Stale(now) {
				continue
			}
			items = append(items, i)
		}
	}
	return items
}

// Shown returns the entries of Recent for people who watch the room. If several agents have a seat,
// each agent's state bears the agent's name. The state of an agent without a seat is left out.
func (v View) Shown(now time.Time, window time.Duration, agents []earshot.ParticipantID) (items []Item) {
	for _, i := range v.Recent(now, window) {
		if i.Field == Agent && !slices.Contains(agents, i.Of) {
			continue
		}
		if i.Field == Agent && len(agents) > 1 {
			i.Text, i.Name, i.Was = earshot.Text(v.scene.called(i.Of)+": "+i.Line()), "", ""
		}
		items = append(items, i)
	}
	return items
}

// Prompt returns items as a model reads them at now: one line for each, with its age, so that old
// entries can be recognised. A finding also says how sure it is.
func Prompt(items []Item, now time.Time) string {
	var b strings.Builder
	for _, i := range items {
		b.WriteString(i.head(now.Sub(i.At)) + conversation.Escape(i.Line()) + "\n")
	}
	return b.String()
}

// Entry returns i as people read it when it has that age: what is going on, how old and how sure it
// is, who said it, and what it said before.
func (i Item) Entry(age time.Duration) string { return i.head(age) + i.Line() }

func (i Item) head(age time.Duration) string {
	sure := ""
	if i.Field == Reasoning {
		sure = fmt.Sprintf(", %.0f %% sure", 100*i.Confidence)
	}
	since := ""
	if i.Unseen(age) {
		since = "nothing has been seen since; then: "
	}
	return fmt.Sprintf("%s (%s%s): %s", i.Field, Age(age), sure, since)
}

// keepWas is how many bytes of the previous text are shown beside an entry: enough to recognise
// what the correction is about.
const keepWas = 120

// Line returns i in one line: the author, the text and, if somebody has changed it, the earlier
// text.
func (i Item) Line() string {
	text := oneLine(i.Text)
	switch {
	case i.Name != "" && i.Field == Agent:
		text = i.Name + " " + text
	case i.Name != "":
		text = i.Name + ": " + text
	}
	if i.Was != "" {
		by := ""
		if i.Mender != "" {
			by = " by " + i.Mender
		}
		text += ` (corrected` + by + `; it said "` + strings.ReplaceAll(begin(oneLine(i.Was), keepWas), `"`, "'") + `")`
	}
	return text
}

// oneLine returns text without line breaks.
func oneLine(text earshot.Text) string { return strings.Join(strings.Fields(string(text)), " ") }

// begin returns text, or its first most bytes if it is longer.
func begin(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Age returns in plain words how long ago something was.
func Age(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "now"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}
