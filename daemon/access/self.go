package access

import (
	"os/user"

	"earshot"
)

// Self is the person who owns this account.
func Self() (h earshot.Handle, name string) {
	u, err := user.Current()
	if err != nil {
		return earshot.Handle{Provider: "console", ID: "uid?"}, ""
	}
	return earshot.Handle{Provider: "console", ID: "uid" + u.Uid}, u.Username
}
