package admin

import (
	"fmt"
	"strings"
	"time"

	"earshot"
	"earshot/api"
	"earshot/executive/scene"
)

// CameraText says what a camera sees at now. The text of codes is foreign: the caller makes it safe
// for a terminal.
func CameraText(s api.CameraView, now time.Time) string {
	the := CameraTitle(s.Camera)
	switch {
	case s.Camera == "" && len(s.Known) == 0:
		return "There is no camera."
	case s.Camera == "":
		return "There is no camera of that name; there are: " + strings.Join(s.Known, ", ") + "."
	case s.Closed != "":
		return fmt.Sprintf("%s is closed: %s.", the, s.Closed)
	}
	var b strings.Builder
	switch s.Eyes {
	case earshot.Dark:
		fmt.Fprintf(&b, "%s sees nothing: there is no light, or something is before the lens%s.", the, sinceText(s, now))
	case earshot.Frozen:
		fmt.Fprintf(&b, "%s shows the same picture again and again%s.", the, sinceText(s, now))
	case earshot.Clear:
		if s.At.IsZero() {
			fmt.Fprintf(&b, "%s gave no picture", the)
			break
		}
		fmt.Fprintf(&b, "%s sees %s. %s", the, inCameraText(s), lightText(s))
		for _, c := range codesIn(s) {
			fmt.Fprintf(&b, "\nA code says: %s", c)
		}
		return b.String() + fmt.Sprintf("\n(%d by %d pixels, taken %s)", s.Width, s.Height, taken(now.Sub(s.At)))
	default:
		fmt.Fprintf(&b, "%s gives no pictures%s", the, sinceText(s, now))
	}
	if s.Fault != "" {
		return strings.TrimSuffix(b.String(), ".") + ": " + s.Fault
	}
	return strings.TrimSuffix(b.String(), ".") + "."
}

// sinceText says since when it sees as well as it does.
func sinceText(s api.CameraView, now time.Time) string {
	if s.Since.IsZero() {
		return ""
	}
	return ", since " + s.Since.Local().Format("15:04:05") + " (" + scene.Age(now.Sub(s.Since)) + ")"
}

// taken says how old a picture is.
func taken(age time.Duration) string {
	if age < 10*time.Second {
		return fmt.Sprintf("%.1f s ago", max(0, age.Seconds()))
	}
	return scene.Age(age)
}

func inCameraText(s api.CameraView) string {
	switch {
	case s.People == 0:
		return "nobody"
	case s.People == 1 && s.Faces > 0:
		return "one person, who faces it"
	case s.People == 1:
		return "one person"
	case s.Faces == 0:
		return several(s.People) + " people"
	}
	return fmt.Sprintf("%s people, of whom %s", several(s.People), map[bool]string{true: "one faces it", false: several(s.Faces) + " face it"}[s.Faces == 1])
}

func several(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n >= 0 && n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// The brightness below which a room is called dim, and the share of a picture from which on
// something is said to move. Both only affect wording: nothing is decided by them.
const (
	dim   = 0.2
	stirs = 0.01
)

// lightText describes the light, and whether anything moves.
func lightText(s api.CameraView) string {
	text := "It is light"
	if s.Brightness < dim {
		text = "There is little light"
	}
	if s.Motion >= stirs {
		return text + ", and something moves."
	}
	return text + "."
}

// longestCode is how much of a code is shown, in bytes: an address, not a page.
const longestCode = 300

// codesIn returns the text of the codes in view, each in quotation marks.
func codesIn(s api.CameraView) (all []string) {
	for _, seen := range s.Seen {
		if seen.What != earshot.Code || seen.Text == "" {
			continue
		}
		text := string(seen.Text)
		if len(text) > longestCode {
			text = strings.ToValidUTF8(text[:longestCode], "") + "…"
		}
		all = append(all, fmt.Sprintf("%q", text))
	}
	return all
}

// CameraTitle is the name of a camera at the beginning of a sentence.
func CameraTitle(camera string) string { return "The " + earshot.CameraCalled(camera) }

// CameraInfoText describes a camera at now.
func CameraInfoText(l api.CameraInfo, now time.Time) string {
	s := api.CameraView{Camera: l.Camera, Closed: l.Closed, Eyes: l.Eyes, Since: l.Since, Fault: l.Fault}
	if !l.Open {
		return "○ " + CameraText(s, now)
	}
	open := fmt.Sprintf("● %s is open (%s); its pictures stay in memory.", CameraTitle(l.Camera), l.Source)
	switch {
	case l.Eyes == earshot.Clear:
		return open
	case l.Since.IsZero():
		return open + " There has been none yet."
	}
	s.Closed = ""
	return open + " " + CameraText(s, now)
}
