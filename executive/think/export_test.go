package think

// What a model is asked, for the golden files.
var (
	Longform   = longform
	FollowOn   = followOn
	Distilling = distilling
	Condensing = condensing
	Merging    = merging
)
