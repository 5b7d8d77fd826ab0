package api

// A UseKind is what a model is asked for.
type UseKind string

// An Amount is what was spent.
type Amount struct {
	Made         int64   `json:"made"`     // replies, thoughts, or descriptions
	Requests     int64   `json:"requests"` // it takes several to use a tool, or to go on
	PromptTokens int64   `json:"prompt_tokens"`
	ReplyTokens  int64   `json:"reply_tokens"`
	Estimated    int64   `json:"estimated,omitempty"` // how many requests no server has counted the tokens of
	Seconds      float64 `json:"seconds"`             // that engines were waited for
}

// A Use is what something was spent for.
type Use struct {
	Kind   UseKind `json:"kind"`
	Asked  bool    `json:"asked"`            // somebody waited for it
	Agent  string  `json:"agent,omitempty"`  // the ID of whose it was; empty if it was nobody's
	Engine string  `json:"engine,omitempty"` // the name of that which was asked
}

// A Line is what was spent for one use, on one day.
type Line struct {
	Use
	Amount
}

// A Day is what was spent on one, by the clock of where it was.
type Day struct {
	Date  string `json:"date"` // such as 2026-11-22
	Lines []Line `json:"lines"`
}

// Tokens returns those of the prompts and of the replies.
func (a Amount) Tokens() int64 { return a.PromptTokens + a.ReplyTokens }
