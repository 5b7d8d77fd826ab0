// Package recall looks up for an agent what was said and what is remembered, as a search agent of its
// own: a question becomes queries, what they find is merged and read, and the answer names what it
// rests on.
//
// Two requests go to the model of the role memory_search. The first makes queries of the question, the
// second reads the passages that were found. Neither is shown anything that not everybody may know who
// will read the answer: passages are taken only if all of them may see it, before they are ranked. If
// the model fails, the words of the question are the query, and the passages themselves are the answer.
//
// Passages are found by their words and, with a model for embeddings, by the vectors that a [Indexer] has
// it make of all that is said. The agent's files are searched by words, if all who ask may use tools.
package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"earshot"
	"earshot/executive"
	"earshot/executive/memory"
	"earshot/executive/record"
	"earshot/executive/tool"
	"earshot/executive/tool/workspace"
	"earshot/llm"
	"earshot/participants"
	"earshot/participants/agents"
)

// ToolName is the name of the tool by which an agent has something looked up.
const ToolName = "search_memory"

const (
	mostQuestion = 400 // bytes
	answerTokens = 512 // where a longer answer is broken off
	mostAnswer   = 8 << 10
	factBytes    = 4000 // how long all facts may be together that are considered
)

// A Directory has the agents. It is safe for concurrent use.
type Directory interface {
	ByID(id earshot.ParticipantID) (agents.Record, bool)
	Spawn(ctx context.Context, by earshot.ParticipantID, parent earshot.Path, kind earshot.PathKind, p earshot.Profile) (agents.Record, error)
	Finish(ctx context.Context, by, id earshot.ParticipantID) error
}

// A Searcher answers questions from what is on record. Facts, Files and Nearest may be nil.
type Searcher struct {
	Journal  tool.Memory
	Facts    *memory.Index
	Files    *workspace.Store
	Model    llm.Service
	Settings func() executive.Config
	Agents   Directory
	Name     func(earshot.ParticipantID) string
	Now      func() time.Time
	Log      *slog.Logger

	// Nearest returns the events that mean nearly what a question says and that everybody in an audience
	// may see, the nearest first; none without a model for that.
	Nearest func(ctx context.Context, a earshot.Audience, question string, n int) ([]earshot.Event, error)
}

// Tool is the tool by which an agent has something looked up.
func (r Searcher) Tool() tool.Tool {
	type search struct {
		Question string `json:"question"`
	}
	return tool.New(ToolName, "Have what was said in this room, and what is remembered, searched for the answer to a question. It takes longer than recall, and finds what was said in other words.",
		`{"type":"object","properties":{"question":{"type":"string","description":"a whole question with names, such as: When does Ann's train arrive?"}},"required":["question"],"additionalProperties":false}`,
		participants.ReadMemory, func(ctx context.Context, s tool.Scope, given search) (tool.Answer, error) {
			question, err := tool.Wording("question", given.Question, mostQuestion)
			if err != nil {
				return tool.Answer{}, err
			}
			by, done := r.agent(ctx, s)
			defer done()
			return r.search(ctx, s, by, question)
		})
}

// agent makes the agent that searches. It has no record of its own in a private conversation, of which
// nobody else may know, nor where none can be made: the agent that asks counts as the one that searches.
func (r Searcher) agent(ctx context.Context, s tool.Scope) (id earshot.ParticipantID, done func()) {
	above, known := r.Agents.ByID(s.Agent)
	if !known || s.Visibility.Scope != earshot.Public {
		return s.Agent, func() {}
	}
	a, err := r.Agents.Spawn(ctx, s.Agent, above.Path, earshot.PathSearch, earshot.Profile{})
	if err != nil {
		r.Log.Debug("an agent searches itself", "agent", s.Agent, "err", err)
		return s.Agent, func() {}
	}
	return a.ID, func() {
		ctx, cancel := record.Outlive(ctx)
		defer cancel()
		if err := r.Agents.Finish(ctx, s.Agent, a.ID); err != nil {
			r.Log.Warn("an agent whose search is over could not be ended", "agent", a.ID, "err", err)
		}
	}
}

// search answers a question.
func (r Searcher) search(ctx context.Context, s tool.Scope, by earshot.ParticipantID, question earshot.Text) (tool.Answer, error) {
	queries := []string{string(question)}
	answer, err := r.ask(ctx, by, asking(question), querySchema)
	if err == nil {
		queries = append(queries, parseQueries([]byte(answer))...)
	}
	found, err := r.find(ctx, s, queries)
	switch {
	case ctx.Err() != nil:
		return tool.Answer{}, context.Cause(ctx)
	case err != nil:
		return tool.Answer{}, errors.New("nothing could be searched; use recall with one to four words, or answer without it")
	case len(found) == 0:
		return tool.Answer{Text: "Nothing was found. Say that you do not know."}, nil
	}
	a := tool.Answer{Visibility: s.Visibility}
	for _, p := range found { // all that was read, whatever is named as a source
		a.Visibility = a.Visibility.And(p.visibility)
		a.Sources = append(a.Sources, p.sources...)
	}
	named := found
	var b strings.Builder
	answer, err = r.ask(ctx, by, reading(question, found), answerSchema(len(found)))
	if err == nil {
		if said, cited, ok := parseAnswer([]byte(answer), found); ok {
			b.WriteString(said + "\nThis rests on:\n")
			named = cited
		}
	}
	if ctx.Err() != nil {
		return tool.Answer{}, context.Cause(ctx)
	}
	for _, p := range named {
		b.WriteString(p.line() + "\n")
	}
	a.Text = earshot.Text(b.String())
	return a, nil
}

// ask asks the model of the role for an answer that follows a schema.
func (r Searcher) ask(ctx context.Context, by earshot.ParticipantID, messages []llm.Message, schema []byte) (string, error) {
	engine, model := r.Settings().LLM.For(string(earshot.RoleSearch), "", "")
	var text strings.Builder
	for d, err := range r.Model.Stream(ctx, &llm.Request{
		Engine: engine, Model: model, Messages: messages, Schema: schema, MaxTokens: answerTokens, Priority: llm.ForTool,
		Origin: llm.Origin{Agent: string(by)},
	}) {
		if err == nil && text.Len()+len(d.Text) > mostAnswer {
			err = errors.New("the answer is too long")
		}
		if err != nil {
			r.Log.Debug("a search goes on without its model", "agent", by, "err", llm.Unquoted(err))
			return "", fmt.Errorf("asking about what was found: %w", err)
		}
		text.WriteString(d.Text)
	}
	return text.String(), nil
}

// find returns what the queries find and everybody in the audience may know, the best first.
func (r Searcher) find(ctx context.Context, s tool.Scope, queries []string) ([]passage, error) {
	x := lookup{journal: r.Journal, scope: s, said: r.said, sought: make(map[string]int), has: make(map[earshot.EventID]map[string]bool)}
	var fault error
	for _, q := range queries {
		fault = cmp.Or(fault, x.collect(ctx, q))
	}
	var lists [][]ranked
	for _, q := range queries {
		lists = append(lists, x.rank(q))
	}
	facts, _ := r.Facts.Lookup(memory.Query{Audience: s.Audience, Words: earshot.Text(strings.Join(queries, " ")), At: r.Now(), Bytes: factBytes})
	var known []ranked
	for i, f := range facts {
		if f.Event.Visibility.Allows(s.Audience) {
			known = append(known, ranked{passage: remembered(f), score: -float64(i)})
		}
	}
	lists = append(lists, known, r.near(ctx, s, queries[0]), r.inFiles(ctx, s, queries))
	all := fuse(lists)
	if len(all) == 0 {
		return nil, fault
	}
	return all[:min(len(all), mostRead)], nil
}
