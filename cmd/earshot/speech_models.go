package main

import (
	"earshot"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"earshot/internal/helper"
	"earshot/internal/probe"
	"earshot/internal/terminal"
	"earshot/llm"
	"earshot/models/catalog"
	"earshot/models/neural"
	"earshot/models/sets"
	"earshot/server/client"
)

// A speechModels is the speech models that there are to be had, and where they are on this machine.
type speechModels struct {
	catalog.Catalogue
	sets.Store
}

func openSpeechModels() (speechModels, error) {
	s := speechModels{Store: sets.Default()}
	var err error
	s.Catalogue, err = catalog.Load(s.Dir)
	return s, err
}

// speechGet is what is to be installed, and on what conditions.
type speechGet struct {
	modelsGet
	speechModels
	again  string        // the command that goes on with it
	source *sets.Source  // nil is the net
	wanted []catalog.Set // none twice
}

// run installs sets, after the person at the terminal has seen what they are.
func (g speechGet) run(a *app) error {
	here, _ := g.List() // what is damaged is not here
	missing := slices.DeleteFunc(slices.Clone(g.wanted), func(s catalog.Set) bool {
		return slices.ContainsFunc(here, func(is catalog.Installed) bool { return is.Name == s.Name && sets.Current(s, is) })
	})
	if err := g.permitted(missing); err != nil {
		return err
	}
	if len(missing) > 0 {
		if err := probe.PrintSpeechOffer(a.told(), missing, g.Store.Dir, g.source == nil); err != nil {
			return err
		}
		if err := g.asks(a, missing); err != nil {
			return err
		}
	}
	var faults []error
	for _, s := range g.wanted {
		is, err := g.install(a, s)
		if err != nil {
			return err
		}
		faults = append(faults, g.try(a, is))
	}
	return errors.Join(append(faults, a.speechChanged())...)
}

// permitted returns an error if a licence restricts people who have not agreed to it.
func (g speechGet) permitted(list []catalog.Set) error {
	for _, s := range list {
		if l := s.Licence; l.NonCommercial && !g.agrees(s) {
			return &verdict{misused, fmt.Errorf("not everybody may use %s: its licence %s %s; see %s\n  → if you agree to it: %s --agree %s", s.Name, l.ID, l.Forbids, l.URL, g.again, l.ID)}
		}
	}
	return nil
}

func (g speechGet) agrees(s catalog.Set) bool {
	return slices.ContainsFunc(g.Agree, func(id string) bool { return strings.EqualFold(id, s.Licence.ID) })
}

// asks asks whether sets are to be installed, unless that has been said.
func (g speechGet) asks(a *app, list []catalog.Set) error {
	switch {
	case g.Yes, !slices.ContainsFunc(list, func(s catalog.Set) bool { return !g.agrees(s) }):
		return nil
	case !term.IsTerminal(int(a.in.Fd())):
		return &verdict{misused, errors.New("nobody can say here whether that is to be installed\n  → add --yes")}
	case !a.confirms("Install it?"):
		return &verdict{failed, errors.New("nothing was installed")}
	}
	return nil
}

// install installs one set.
func (g speechGet) install(a *app, s catalog.Set) (catalog.Installed, error) {
	d := a.newDownload(s.Name, g.JSON)
	is, changed, err := g.Get(a.ctx, s, g.source, func(doing string, have, all int64) {
		d.Tell(llm.Progress{Status: doing, Completed: have, Total: all})
	})
	d.End()
	switch {
	case a.ctx.Err() != nil:
		return is, fmt.Errorf("stopped; what was downloaded is kept\n  → to continue: %s", g.again)
	case earshot.Cure(err) != "":
		return is, fmt.Errorf("%s was not installed: %w", s.Name, err)
	case err != nil:
		return is, fmt.Errorf("%s was not installed: %w\n  → try again: %s", s.Name, err, g.again)
	}
	if g.source != nil && len(g.source.Unproven) > 0 {
		fmt.Fprintf(a.told(), "! nobody has published a checksum of %s; it was taken by its name and size\n", terminal.Safe(strings.Join(g.source.Unproven, ", ")))
		g.source.Unproven = nil
	}
	if !changed && !g.JSON {
		fmt.Fprintf(a.printed(), "%s is here already, and whole.\n", s.Name)
	}
	return is, nil
}

// try tries a set that is installed, and says how well it runs.
func (g speechGet) try(a *app, is catalog.Installed) error {
	r, err := neural.Open(quietly).Check(a.ctx, is)
	var missing *helper.MissingError
	switch {
	case errors.As(err, &missing):
		fmt.Fprintf(a.told(), "! %s is installed, but not in use: %v\n  → %s\n", is.Name, err, earshot.Cure(err))
	case err != nil:
		return fmt.Errorf("%s is installed, but cannot be used here: %w", is.Name, err)
	case g.JSON:
	case r.Speed > 0:
		fmt.Fprintf(a.printed(), "%s is ready. A second of sound takes it %.2f s here.\n", is.Name, r.Speed)
	default:
		fmt.Fprintf(a.printed(), "%s is ready.\n", is.Name)
	}
	return nil
}

// speechChanged has the earshot that runs look which speech models are installed.
func (a *app) speechChanged() error {
	running, _, err := a.reach(identityFlags{}, "")
	if err == nil {
		_, err = running.Reload(a.ctx)
	}
	if errors.Is(err, client.ErrNotRunning) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("that is done, but the running earshot has not been told: %w\n  → earshot reload", err)
	}
	fmt.Fprintln(a.told(), "The running earshot knows of it now.")
	return nil
}

type modelsUpdate struct {
	Names []string `arg:"" optional:"" name:"name" help:"Names of speech models that are installed; by default all."`
	Agree []string `help:"Agree to a licence that restricts people, by its name." placeholder:"LICENCE"`
	Yes   bool     `help:"Do not ask for confirmation."`
	JSON  bool     `help:"Print the progress as JSON, one object per line."`
}

// Run installs the sets again that the catalogue describes differently now. An installed set stays in
// use until the new one is whole.
func (u modelsUpdate) Run(a *app) error {
	s, err := openSpeechModels()
	if err != nil {
		return err
	}
	here, damaged := s.List()
	get := speechGet{
		modelsGet: modelsGet{Agree: u.Agree, Yes: u.Yes, JSON: u.JSON}, speechModels: s,
		again: strings.Join(append([]string{"earshot models update"}, u.Names...), " "),
	}
	for _, name := range u.Names {
		if !slices.ContainsFunc(here, func(is catalog.Installed) bool { return is.Name == name }) {
			return errors.Join(damaged, &verdict{notFound, fmt.Errorf("no speech model %q is installed\n  → earshot models list", terminal.Safe(name))})
		}
	}
	for _, is := range here {
		i := slices.IndexFunc(s.Sets, func(set catalog.Set) bool { return set.Name == is.Name })
		if wanted := len(u.Names) == 0 || slices.Contains(u.Names, is.Name); wanted && i >= 0 && !sets.Current(s.Sets[i], is) {
			get.wanted = append(get.wanted, s.Sets[i])
		}
	}
	if len(get.wanted) > 0 {
		return errors.Join(get.run(a), damaged)
	}
	if !u.JSON {
		fmt.Fprintln(a.printed(), "There is nothing newer in the catalogue of this earshot.")
	}
	return damaged
}

type modelsRemove struct {
	Names []string `arg:"" name:"name" help:"Names of speech models, as shown by list."`
}

// Run removes speech models.
func (r modelsRemove) Run(a *app) error {
	store := sets.Default()
	for _, name := range r.Names {
		err := store.Remove(a.ctx, name)
		if errors.Is(err, os.ErrNotExist) {
			return &verdict{notFound, fmt.Errorf("no speech model %q is installed\n  → earshot models list   or, for a language model: ollama rm %[1]s", terminal.Safe(name))}
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.printed(), "%s is removed.\n", name)
	}
	return a.speechChanged()
}
