package executive

// Recall is how agents have looked up what was said.
type Recall struct {
	// Enabled lets agents use the tool search_memory, for which a search agent of their own asks a
	// model twice. Without it, they have recall.
	Enabled bool `yaml:"enabled"`
}
