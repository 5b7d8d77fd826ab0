package api

// A UsageKind is what a model is asked for.
type UsageKind string

// A UsageAmount is what was spent.
type UsageAmount struct {
	Made         int64   `json:"made"`     // replies, thoughts, or descriptions
	Requests     int64   `json:"requests"` // it takes several to use a tool, or to go on
	PromptTokens int64   `json:"prompt_tokens"`
	ReplyTokens  int64   `json:"reply_tokens"`
	Estimated    int64   `json:"estimated,omitempty"` // how many requests no server has counted the tokens of
	Seconds      float64 `json:"seconds"`             // that engines were waited for
}

// A UsagePurpose is what something was spent for.
type UsagePurpose struct {
	Kind   UsageKind `json:"kind"`
	Asked  bool      `json:"asked"`            // somebody waited for it
	Agent  string    `json:"agent,omitempty"`  // the ID of whose it was; empty if it was nobody's
	Engine string    `json:"engine,omitempty"` // the name of that which was asked
}

// A UsageLine is what was spent for one use, on one day.
type UsageLine struct {
	UsagePurpose
	UsageAmount
}

// A UsageDay is what was spent on one, by the clock of where it was.
type UsageDay struct {
	Date  string      `json:"date"` // such as 2026-11-22
	Lines []UsageLine `json:"lines"`
}

// Tokens returns those of the prompts and of the replies.
func (a UsageAmount) Tokens() int64 { return a.PromptTokens + a.ReplyTokens }
