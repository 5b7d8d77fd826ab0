package api

// A ReloadResult lists what changed when the configuration was read again.
type ReloadResult struct {
	File    string          `json:"file,omitempty"`
	Changes []SettingChange `json:"changes"`           // since it was read last
	Begins  []string        `json:"begins,omitempty"`  // the parts of the house that begin again
	Waiting []string        `json:"waiting,omitempty"` // all keys that wait for a restart, in the order of the sample
}

// A SettingChange is a key with another value than before. The value is not told: it may be a
// secret.
type SettingChange struct {
	Key   string      `json:"key"`
	Class ChangeClass `json:"class"`
}

// A ChangeClass is when a changed key takes effect while earshot runs.
type ChangeClass string

// A Setting is a key that has another value than by default, as it can be shown to
// anybody.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}
