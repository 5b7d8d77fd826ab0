package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"earshot"
	"earshot/api"
	"earshot/daemon/admin"
	"earshot/internal/terminal"
	"earshot/participants"
	"earshot/participants/agents"
)

type agentsCommand struct {
	List   agentsList   `cmd:"" default:"withargs" help:"List the agents."`
	Show   agentsShow   `cmd:"" help:"Show one agent in full."`
	Add    agentsAdd    `cmd:"" help:"Add an agent. It is there at once, in every room where it sits."`
	Change agentsChange `cmd:"" help:"Change an agent, with immediate effect."`
	End    agentsEnd    `cmd:"" help:"End an agent for good. What was said stays."`
}

type agentsList struct {
	identityFlags
	All  bool `help:"Also list agents that have ended."`
	JSON bool `help:"Print them as JSON."`
}

// Run lists the agents.
func (l agentsList) Run(a *app) error {
	return a.consult(l.identityFlags, func(o agentAdmin) error {
		list, err := o.Agents(a.ctx, l.All)
		if err != nil {
			return err
		}
		if l.JSON {
			return a.json(list)
		}
		t, print := a.table()
		fmt.Fprintln(t, "NAME\tSTATE\tPATH\tKIND\tROOMS\tMODEL\tTODAY\t")
		for _, p := range list {
			if p.Kind == earshot.PathSystem {
				p.Name = "-" // it is not called
			}
			fmt.Fprintln(t, terminal.Safe(strings.Join([]string{p.Name, p.State, string(p.Path), string(p.Kind), admin.RoomsText(p), admin.ModelText(p), admin.TodayText(p), admin.MainText(p)}, "\t")))
		}
		return print()
	})
}

// A mention is of an agent that there is, by somebody.
type mention struct {
	identityFlags
	Agent string `arg:"" name:"name|path" help:"Name or path of the agent."`
}

type agentsShow struct {
	mention
	JSON bool `help:"Print it as JSON."`
}

// Run shows one agent, also one that has ended.
func (s agentsShow) Run(a *app) error {
	return a.consult(s.identityFlags, func(o agentAdmin) error {
		p, err := a.agent(o, s.Agent, true)
		if err != nil {
			return err
		}
		if s.JSON {
			return a.json(p)
		}
		admin.PrintAgent(a.printed(), p)
		return nil
	})
}

// agent returns the one that is called so, or whose path it is; if past is set
// also one that has ended.
func (a *app) agent(o agentAdmin, text string, past bool) (api.AgentInfo, error) {
	list, err := o.Agents(a.ctx, past)
	if err != nil {
		return api.AgentInfo{}, err
	}
	i := slices.IndexFunc(list, func(p api.AgentInfo) bool {
		key := participants.Key(text)
		return string(p.Path) == text || text != "" && (participants.Key(p.Name) == key || participants.Key(p.Username) == key)
	})
	if i >= 0 {
		return list[i], nil
	}
	var names []string
	for _, p := range list {
		if !p.Kind.Below() && p.Kind != earshot.PathSystem && p.State != admin.Ended {
			names = append(names, p.Name)
		}
	}
	return api.AgentInfo{}, &verdict{notFound, fmt.Errorf("no agent is called %q\n  → call one of %s; earshot agents --all also lists those that have ended",
		participants.OneLine(text), strings.Join(names, ", "))}
}

// traits are what one can say about an agent.
type traits struct {
	Username    *string  `help:"A further name by which it is called in writing, which nobody else may have; empty means none." placeholder:"NAME"`
	Description *string  `help:"What it is for, in one line, for people, other agents and itself." placeholder:"TEXT"`
	Prompt      *string  `help:"The prompt that tells its model who it is; empty means the built-in one." placeholder:"TEXT"`
	PromptFile  string   `help:"File with the prompt; - is standard input." placeholder:"FILE" type:"existingfile"`
	Engine      *string  `help:"The name of an engine in executive.llm; empty means the default." placeholder:"NAME"`
	Model       *string  `help:"A model of that engine; empty means the default." placeholder:"NAME"`
	Room        []string `help:"Room where it sits; repeat for several rooms, or all." placeholder:"ROOM"`
	Workspace   *string  `help:"The folder of its files, in one word; empty means the one at its path." placeholder:"WORD"`
	Main        *bool    `help:"It answers there what is addressed to nobody in particular." negatable:""`
	AutoReply   *bool    `help:"It calls the agent that it answers, so that their conversation goes on." negatable:""`
}

// longestPrompt is more than an agent may have, and little enough to be read.
const longestPrompt = 1 << 20

// edit returns what the command line says.
func (t traits) edit(a *app) (e agents.Edit, err error) {
	e = agents.Edit{Username: t.Username, Description: t.Description, Engine: t.Engine, Model: t.Model, Workspace: t.Workspace, Main: t.Main, AutoReply: t.AutoReply}
	if t.Prompt != nil {
		text := earshot.Text(*t.Prompt)
		e.Prompt = &text
	}
	if len(t.Room) > 0 {
		err = e.Set("rooms", strings.Join(t.Room, ","))
	}
	if t.PromptFile == "" || err != nil {
		return e, err
	}
	if t.Prompt != nil {
		return e, &verdict{misused, errors.New("give either --prompt or --prompt-file, not both")}
	}
	f := a.in
	if t.PromptFile != "-" {
		if f, err = os.Open(t.PromptFile); err != nil {
			return e, err
		}
		defer f.Close()
	}
	data, err := io.ReadAll(io.LimitReader(f, longestPrompt))
	text := earshot.Text(data)
	e.Prompt = &text
	return e, err
}

type agentsAdd struct {
	identityFlags
	Name string `arg:"" help:"Its name, which nobody else may have."`
	traits
	User string `help:"The subuser that it belongs to; empty means the owner." placeholder:"ID"`
	JSON bool   `help:"Print it as JSON."`
}

// Run makes an agent.
func (c agentsAdd) Run(a *app) error {
	e, err := c.edit(a)
	if err != nil {
		return err
	}
	e.Name = &c.Name
	return a.direct(c.identityFlags, func(o agentAdmin) error {
		p, err := o.Order(a.ctx, agents.Order{Act: earshot.Created, User: earshot.ParticipantID(c.User), Edit: e})
		if err != nil {
			return err
		}
		return a.done(p, c.JSON, "%s is an agent now: %s", p.Name, p.Path)
	})
}

type agentsChange struct {
	mention
	Name *string `help:"Its new name. Its path stays." placeholder:"NAME"`
	traits
	JSON bool `help:"Print it as JSON."`
}

// Run changes an agent.
func (c agentsChange) Run(a *app) error {
	e, err := c.edit(a)
	if err != nil {
		return err
	}
	e.Name = c.Name
	if e == (agents.Edit{}) {
		return &verdict{misused, errors.New("nothing to change\n  → say what to change, such as --description TEXT; see: earshot agents change --help")}
	}
	return a.direct(c.identityFlags, func(o agentAdmin) error {
		p, err := a.agent(o, c.Agent, false)
		if err == nil {
			p, err = o.Order(a.ctx, agents.Order{Act: earshot.Changed, Agent: string(p.Path), Edit: e})
		}
		if err != nil {
			return err
		}
		return a.done(p, c.JSON, "%s has been changed.", p.Name)
	})
}

type agentsEnd struct {
	mention
	Yes bool `help:"Do not ask for confirmation."`
}

// Run ends an agent, if that is meant.
func (c agentsEnd) Run(a *app) error {
	return a.direct(c.identityFlags, func(o agentAdmin) error {
		p, err := a.agent(o, c.Agent, false)
		if err != nil {
			return err
		}
		switch {
		case c.Yes:
		case !term.IsTerminal(int(a.in.Fd())):
			return &verdict{misused, fmt.Errorf("ending %s is permanent, and nobody can confirm it here\n  → add --yes", p.Name)}
		case !a.confirms(fmt.Sprintf("This ends %s for good, with everything it remembers; what was said stays. Continue?", p.Name)):
			return &verdict{failed, fmt.Errorf("%s stays", p.Name)}
		}
		if _, err = o.Order(a.ctx, agents.Order{Act: earshot.Ended, Agent: string(p.Path)}); err != nil {
			return err
		}
		return a.done(p, false, "%s is no longer an agent.", p.Name)
	})
}

// done says what was done, or shows it to programs.
func (a *app) done(p api.AgentInfo, asJSON bool, format string, args ...any) error {
	if asJSON {
		return a.json(p)
	}
	_, err := fmt.Fprintln(a.out, terminal.Safe(fmt.Sprintf(format, args...)))
	return err
}
