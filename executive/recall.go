package executive

// Recall is how agents have looked up what was said.
type Recall struct {
	// Enabled lets agents use the tool search_memory, for which a search agent of their own asks a
	// model twice. Without it, they have recall.
	Enabled bool `yaml:"enabled"`

	Embedding Embedding `yaml:"embedding"`
}

// An Embedding is the model that turns texts into vectors, by which a search finds what means the same.
type Embedding struct {
	Engine string `yaml:"engine"` // the name of one; empty means the first
	Model  string `yaml:"model"`  // of that engine; empty means that words alone are looked for
}

// Key names the model where its vectors are kept: those of another are of no use to it.
func (e Embedding) Key() string { return e.Engine + " " + e.Model }
