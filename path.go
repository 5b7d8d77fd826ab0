package earshot

// A Path is the address of one agent of the house, such as
// "/owner/agent/coder/sub/0": unique, readable, and never used again when the
// agent is gone. What is at the end of it is found in a table; nobody reads
// authority out of its segments. See package participants/agents.
type Path string

// A PathKind says what the agent at a path is. It is recorded when the agent is
// made.
type PathKind string

// The kinds, one for each pattern of a path; see package participants/agents.
const (
	PathConnector PathKind = "connector"
	PathAgent     PathKind = "agent"
	PathCron      PathKind = "cron"
	PathTask      PathKind = "task"
	PathSubuser   PathKind = "subuser"
	PathSystem    PathKind = "system"
	PathSub       PathKind = "sub"
	PathMemory    PathKind = "memory"
	PathSearch    PathKind = "search"
)

// A Role selects the engine and the model of an agent; the empty one means the
// usual ones.
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
var roles = map[PathKind]Role{
	PathConnector: RoleUser, PathAgent: RoleUser, PathSubuser: RoleUser,
	PathSub: RoleSubagent, PathMemory: RoleMemory, PathSearch: RoleSearch, PathTask: RoleTask,
}

// Role returns the role of an agent of kind k.
func (k PathKind) Role() Role { return roles[k] }

// Below reports whether agents of kind k have a parent.
func (k PathKind) Below() bool { return k == PathSub || k == PathMemory || k == PathSearch }

// Indexed reports whether there can be many agents of kind k below another, each
// with a number.
func (k PathKind) Indexed() bool { return k == PathSub || k == PathSearch }
