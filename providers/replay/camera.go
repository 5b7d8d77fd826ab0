package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"earshot"
)

// Webcam is the provider whose lines say what a camera sees. The name in their handle is the name
// of the camera.
const Webcam = "webcam"

const (
	// often is the time between two looks of a camera that sees the same for a while.
	often = time.Second

	// mostGlances is how many looks one line makes at most: ten minutes.
	mostGlances = 600

	// mostSeen is how many people a camera of a scene can see.
	mostSeen = 99

	// bright is a room by day.
	bright = 0.5
)

// parseSight parses what a camera sees in a line of a scene, and until when; the zero time means
// one look.
func parseSight(camera, what string) (body earshot.Body, until time.Duration, err error) {
	head, text, closed := strings.Cut(what, ")")
	name, list := word(strings.TrimPrefix(head, "("))
	if closed && strings.HasPrefix(head, "(") {
		args := strings.Fields(list)
		text = strings.TrimSpace(text)
		s := earshot.Sight{Camera: camera, Eyes: earshot.Clear, Sure: sure, Text: earshot.Text(text)}
		switch {
		case name == "sees":
			return parseGlance(camera, args, text)
		case name == "people" && text == "" && len(args) == 3 && args[1] == "to":
			were, err1 := number(args[0])
			people, err2 := number(args[2])
			if err1 == nil && err2 == nil {
				s.What, s.Were, s.People = earshot.PeopleChanged, were, people
				return s, 0, nil
			}
		case name == "eyes" && text == "" && len(args) == 1 && slices.Contains(eyesights, earshot.Eyesight(args[0])):
			s.What, s.Eyes = earshot.EyesChanged, earshot.Eyesight(args[0])
			return s, 0, nil
		case name == "moved" && text == "" && list == "":
			s.What = earshot.SceneChanged
			return s, 0, nil
		case name == "code" && text != "" && list == "":
			s.What = earshot.CodeRead
			return s, 0, nil
		case name == "caption" && text != "" && list == "":
			s.What = earshot.Captioned
			return s, 0, nil
		}
	}
	return nil, 0, fmt.Errorf("%q is not something that a camera sees", what[:min(len(what), 40)])
}

// eyesights are all values.
var eyesights = []earshot.Eyesight{earshot.Clear, earshot.Dark, earshot.Frozen, earshot.Away}

// parseGlance parses one look.
func parseGlance(camera string, args []string, text string) (body earshot.Body, until time.Duration, err error) {
	g := earshot.Glance{Camera: camera, Eyes: earshot.Clear, Sure: sure, Brightness: bright}
	if len(args) == 0 || text != "" {
		return nil, 0, fmt.Errorf("a look needs the number that it sees: (sees 1)")
	}
	if g.People, err = number(args[0]); err != nil {
		return nil, 0, err
	}
	shares := map[string]*float64{"sure": &g.Sure, "bright": &g.Brightness, "moves": &g.Motion, "novel": &g.Novelty}
	for args = args[1:]; len(args) > 0; args = args[1:] {
		if eyes := earshot.Eyesight(args[0]); slices.Contains(eyesights, eyes) {
			g.Eyes = eyes
			continue
		}
		if len(args) < 2 {
			return nil, 0, fmt.Errorf("nothing follows %q", args[0])
		}
		switch share := shares[args[0]]; {
		case share != nil:
			if *share, err = strconv.ParseFloat(args[1], 64); err == nil && !(*share >= 0 && *share <= 1) {
				err = fmt.Errorf("%q is not from 0 to 1", args[1])
			}
		case args[0] == "faces":
			g.Faces, err = number(args[1])
		case args[0] == "until":
			until, err = time.ParseDuration(args[1])
		default:
			err = fmt.Errorf("%q is not part of a look", args[0])
		}
		if err != nil {
			return nil, 0, err
		}
		args = args[1:]
	}
	return g, until, nil
}

// number returns how many a camera sees.
func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > mostSeen {
		return 0, fmt.Errorf("%q is not a number from 0 to %d", s, mostSeen)
	}
	return n, nil
}

// lasting returns a look and its repetitions until a time.
func lasting(at At, until time.Duration) (all []At, err error) {
	if until == 0 {
		return []At{at}, nil
	}
	if until < at.Offset || until-at.Offset > mostGlances*often {
		return nil, fmt.Errorf("it sees that until %v; that must be within %v", until, mostGlances*often)
	}
	for ; at.Offset <= until; at.Offset += often {
		all = append(all, at)
	}
	return all, nil
}
