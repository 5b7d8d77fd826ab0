package health

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/daemon/admin"
	"earshot/internal/probe"
	"earshot/internal/terminal"
)

// PrintStatus tells people of the state of earshot at now. Open cameras stand first: nobody should have
// to look for them.
func PrintStatus(w io.Writer, s api.Status, now time.Time) error {
	if _, err := fmt.Fprintf(w, "%s is running. The room is %s: %s.\n", terminal.Safe(s.Agent), s.Mode, s.Mode.Means()); err != nil {
		return err
	}
	for _, c := range s.Cameras {
		said := func(n earshot.Notice) bool { return n.Key == earshot.CameraCalled(c.Camera) }
		if !c.Open && c.Closed == "" && slices.ContainsFunc(s.Faults, said) {
			continue // with what mends it
		}
		fmt.Fprintf(w, "  %s\n", terminal.Safe(admin.CameraInfoText(c, now)))
	}
	for _, part := range s.Works {
		fmt.Fprintf(w, "  ✓ %s\n", terminal.Safe(part))
	}
	if s.API != "" {
		fmt.Fprintf(w, "  ✓ %s at %s\n", probe.APIPart, terminal.Safe(s.API))
	}
	for _, one := range s.Satellites {
		fmt.Fprintf(w, "  %s\n", terminal.Safe(satelliteText(one)))
	}
	for _, r := range s.Rooms {
		if r.At != "" {
			fmt.Fprintf(w, "  ○ the room %s is at the daemon %s\n", terminal.Safe(r.Name), terminal.Safe(r.At))
		}
	}
	for _, n := range s.Faults {
		if n.Absent { // earshot doctor says more of it
			fmt.Fprintf(w, "  – %s\n", terminal.Safe(n.Text))
			continue
		}
		fmt.Fprintf(w, "  ✗ %s\n", terminal.Safe(n.Text))
		if n.Cure != "" {
			fmt.Fprintf(w, "    → %s\n", terminal.Safe(n.Cure))
		}
	}
	if len(s.Waiting) > 0 {
		fmt.Fprintf(w, "  · %s: changed in the configuration; takes effect after a restart\n", terminal.Safe(strings.Join(s.Waiting, ", ")))
	}
	for _, u := range s.Underway {
		fmt.Fprintf(w, "  · %s: %s\n", terminal.Safe(u.Part), terminal.Safe(u.Text))
	}
	if s.Work != "" {
		fmt.Fprintf(w, "  · %s\n", terminal.Safe(s.Work))
	}
	if s.Today != nil {
		fmt.Fprintf(w, "  Today: %s.\n", terminal.Safe(CostsText(*s.Today)))
	}
	if s.Rests != "" {
		fmt.Fprintf(w, "  · %s\n", terminal.Safe(s.Rests))
	}
	for _, u := range s.Permits {
		fmt.Fprintf(w, "  %s\n", terminal.Safe(permissionText(u)))
	}
	if s.Keeps != "" {
		fmt.Fprintf(w, "  Memory: %s.\n", terminal.Safe(s.Keeps))
	}
	return nil
}

// satelliteText tells people how a satellite is.
func satelliteText(s api.Satellite) string {
	since := s.Since.Local().Format("2006-01-02 15:04")
	switch {
	case s.Since.IsZero():
		return fmt.Sprintf("○ satellite %s, in the room %s: has not connected yet", s.ID, s.Room)
	case !s.Connected:
		return fmt.Sprintf("○ satellite %s, in the room %s: not connected since %s", s.ID, s.Room, since)
	case s.Muted:
		return fmt.Sprintf("● satellite %s, in the room %s: connected since %s, muted there", s.ID, s.Room, since)
	}
	text := fmt.Sprintf("● satellite %s, in the room %s: connected since %s", s.ID, s.Room, since)
	if s.Recognises {
		text += ", recognises speech there"
	}
	return text
}

// permissionText tells a permission to people.
func permissionText(p api.Permission) string {
	if p.Allowed {
		return "● " + p.Thing + ": allowed (" + p.Key + ")"
	}
	return "○ " + p.Thing + ": not allowed (" + p.Key + ")"
}
