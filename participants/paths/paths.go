// Package paths builds and parses the addresses of agents:
//
//	/<user>/<connector>        where an agent is met: console, desktop, discord
//	/<user>/agent/<name>       one with a permanent name
//	/<user>/cron/<id>          one that works on a schedule
//	/<user>/task/<id>          one that works on one task
//	/<user>/subuser/<id>       the gateway to those of a subuser
//	/system/<tag>              one of the program itself
//	<any of them>/sub/<n>      one that another made
//	<any of them>/memory       one that remembers for another
//	<any of them>/search/<n>   one that looks something up for another
//
// A user is a person, a group, which has its own user ID, or a subuser. A path is only an address.
// What an agent is, to whom it belongs and what it may do is stored elsewhere, see
// [earshot/participants/agents].
//
// Each word of a path is in small letters and in its only spelling, so two paths are the same if
// their bytes are. The words that have a meaning here cannot be used anywhere else in a path, nor
// can words that look like them.
package paths

// A Kind says what an agent at a path is. It is recorded when the agent is made.
type Kind string

// The kinds, one for each pattern above.
const (
	Connector Kind = "connector"
	Agent     Kind = "agent"
	Cron      Kind = "cron"
	Task      Kind = "task"
	Subuser   Kind = "subuser"
	System    Kind = "system"
	Sub       Kind = "sub"
	Memory    Kind = "memory"
	Search    Kind = "search"
)

// A Role selects the engine and the model of an agent; the empty one means the default.
type Role string

// The roles, which are the keys of executive.llm.roles.
const (
	RoleUser     Role = "user"
	RoleSubagent Role = "subagent"
	RoleMemory   Role = "memory"
	RoleSearch   Role = "memory_search"
	RoleTask     Role = "task"
)

// roles are the roles of the agents of each kind.
var roles = map[Kind]Role{
	Connector: RoleUser, Agent: RoleUser, Subuser: RoleUser, Sub: RoleSubagent, Memory: RoleMemory, Search: RoleSearch, Task: RoleTask,
}

// Role returns the role of an agent of kind k.
func (k Kind) Role() Role { return roles[k] }

// Below reports whether agents of kind k have a parent.
func (k Kind) Below() bool { return k == Sub || k == Memory || k == Search }

// Indexed reports whether there can be many agents of kind k below another, each with a number.
func (k Kind) Indexed() bool { return k == Sub || k == Search }
