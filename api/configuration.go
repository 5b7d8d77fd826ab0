package api

// A ReloadResult lists what changed when the configuration was read again.
type ReloadResult struct {
	File    string   `json:"file,omitempty"`
	Changes []Change `json:"changes"`           // since it was read last
	Begins  []string `json:"begins,omitempty"`  // the parts of the house that begin again
	Waiting []string `json:"waiting,omitempty"` // all keys that wait for a restart, in the order of the sample
}

// A Change is a key with another value than before. The value is not told: it may be a
// secret.
type Change struct {
	Key   string `json:"key"`
	Class Class  `json:"class"`
}

// A Class is when a changed key takes effect while earshot runs.
type Class string

// A Setting is a key that has another value than by default, as it can be shown to
// anybody.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}
