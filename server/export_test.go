package server

import "net/http"

// Routes returns the method and path of every route that needs a right.
func Routes() (all [][2]string) {
	for _, r := range routes {
		if r.right != anybody {
			all = append(all, [2]string{r.method, r.path})
		}
	}
	return all
}

// Open returns the paths of the routes that anybody may use.
func Open() (all []string) {
	for _, r := range routes {
		if r.right == anybody {
			all = append(all, r.path)
		}
	}
	return all
}

// A RouteForTest is a route.
type RouteForTest struct{ Method, Path, Right string }

// AllRoutes returns every route.
func AllRoutes() (all []RouteForTest) {
	names := map[right]string{nobody: "nobody", resident: "resident", operator: "operator", watcher: "watcher", anybody: "anybody", scraper: "scraper"}
	for _, r := range routes {
		all = append(all, RouteForTest{r.method, r.path, names[r.right]})
	}
	return all
}

// Connections is how many connections may be open at a time.
const Connections = connections

// HandleOf is handleOf.
var HandleOf = handleOf

// ClaimOf is claimOf.
var ClaimOf = claimOf

// Described returns the method and path of every described route.
func Described() (all []string) {
	for _, r := range routes {
		if r.says != "" {
			all = append(all, r.method+" "+r.path)
		}
	}
	return all
}

// Bodies returns the zero value of each route's request body, by route.
func Bodies() map[string]any {
	all := make(map[string]any)
	for _, r := range routes {
		if r.in != nil {
			all[r.method+" "+r.path] = r.in
		}
	}
	return all
}

// AnswerTypes returns the zero value of each route's JSON answer, by route.
func AnswerTypes() map[string]any {
	all := make(map[string]any)
	for _, r := range routes {
		if r.out != nil {
			all[r.method+" "+r.path] = r.out
		}
	}
	return all
}

// Kinds are the kinds of events that are described.
var Kinds = kinds

// Sites returns which daemon answers each route: any, or the owner of the room or of the desk.
func Sites() map[string]string {
	all := make(map[string]string)
	for _, r := range routes {
		all[r.method+" "+r.path] = map[site]string{anyDaemon: "any", ofRoom: "room", ofDesk: "desk"}[r.site]
	}
	return all
}

// CheckEvidence reads the header of a request that was passed on, and returns it as it is written.
func CheckEvidence(h http.Header) (string, error) {
	e, err := parseAssertion(h)
	if err != nil {
		return "", err
	}
	return e.encode(), nil
}
