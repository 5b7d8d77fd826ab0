package think

// The questions to the model, for the golden files.
var (
	Longform   = longform
	FollowOn   = followOn
	Distilling = distilling
	Condensing = condensing
	Merging    = merging
)
