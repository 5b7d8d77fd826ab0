package turncontrol

import "earshot"

// Alike reports whether two texts are near duplicates.
func Alike(a, b earshot.Text) bool { return fingerprintOf(a).near(fingerprintOf(b)) }
