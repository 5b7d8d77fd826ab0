package server

import "net/http"

// Routes returns every route there is that is not for anybody, as method and path.
func Routes() (all [][2]string) {
	for _, r := range routes {
		if r.right != anybody {
			all = append(all, [2]string{r.method, r.path})
		}
	}
	return all
}

// Open returns the paths that are for anybody.
func Open() (all []string) {
	for _, r := range routes {
		if r.right == anybody {
			all = append(all, r.path)
		}
	}
	return all
}

// Connections is how many may be connected at a time.
const Connections = connections

// HandleOf is handleOf.
var HandleOf = handleOf

// ClaimOf is claimOf.
var ClaimOf = claimOf

// Sign says in a request what c says of itself.
func (c *Client) Sign(req *http.Request) { c.sign(req) }
