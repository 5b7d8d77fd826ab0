package earshot

// A SearchPassage is what is shown of a text that was found: the words around what was looked for.
type SearchPassage struct {
	Text string      `json:"text"`
	Hits []SearchHit `json:"hits,omitempty"` // where in it stands what was looked for, in bytes of UTF-8
}

// A SearchHit is a part of a text that was looked for, in bytes.
type SearchHit struct {
	Start int `json:"start"`
	End   int `json:"end"`
}
