package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"earshot"
	"earshot/bus"
	"earshot/config"
	"earshot/daemon/buslink"
	"earshot/executive"
	"earshot/internal/terminal"
	"earshot/satellite"
	"earshot/satellite/pairing"
)

type pairCommand struct {
	Add    pairAdd    `cmd:"" default:"withargs" help:"Pair a satellite: print the code to paste at its machine, where \"earshot satellite\" asks for it."`
	List   pairList   `cmd:"" help:"List the satellites that are paired."`
	Remove pairRemove `cmd:"" help:"Remove a satellite. It is disconnected and cannot come back."`
}

type pairAdd struct {
	Name string `arg:"" help:"What to call it, such as kitchen."`
	Room string `help:"The room that it serves; the desk by default." placeholder:"ROOM"`
	JSON bool   `help:"Print it as JSON."`
}

// Run pairs a satellite. Standard output is the code alone, so that it can be piped.
func (c pairAdd) Run(a *app) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if !cfg.Bus.Enabled() {
		return &verdict{misused, fmt.Errorf("satellites cannot reach this earshot, since bus.listen is not set\n  → write into %s:\n    bus:\n      listen: \":4223\"", cmp.Or(config.ShortPath(cfg.File), "the configuration"))}
	}
	if err := satellite.CheckID(c.Name); err != nil {
		return &verdict{misused, err}
	}
	room, err := pairedRoom(cfg, c.Room)
	if err != nil {
		return err
	}
	at, err := busAddresses(cfg.Bus)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cfg.Store.Directory, 0o700); err != nil {
		return fmt.Errorf("creating the folder of the satellites: %w", err)
	}
	code := pairing.Code{ID: c.Name, Addresses: at}
	if cfg.Bus.Listen != "" {
		certificate, err := buslink.Certificate(cfg)
		if err != nil {
			return err
		}
		code.Certificate = certificate.Sum()
	}
	made, seed, err := pairing.In(cfg.Store.Directory).Pair(c.Name, room.ID)
	if errors.Is(err, pairing.ErrTaken) {
		return &verdict{misused, err}
	}
	if err != nil {
		return err
	}
	code.Seed = seed
	if c.JSON {
		return a.json(struct {
			pairing.Satellite
			Addresses []string         `json:"addresses"`
			Rights    satellite.Rights `json:"rights"`
			Code      string           `json:"code"`
		}{made, at, satellite.RightsOf(made.ID), code.Encode().Reveal()})
	}
	fmt.Fprintf(a.err, "The satellite %s serves the room %s. Run \"earshot satellite\" on its machine, and paste this code there. It is shown only now, and whoever has it can hear and speak as %s; to undo it: earshot pair remove %s\n", made.ID, terminal.Safe(room.Name), made.ID, made.ID)
	fmt.Fprintf(a.err, "It reaches this machine at %s.\n", terminal.Safe(strings.Join(at, ", ")))
	if cfg.Bus.Listen == "" {
		r := satellite.RightsOf(made.ID)
		fmt.Fprintf(a.err, "The servers of the bus have to know the nkey %s, which may publish %s and subscribe to %s.\n", made.Key, strings.Join(r.Publish, ", "), strings.Join(r.Subscribe, ", "))
	}
	_, err = fmt.Fprintln(a.out, code.Encode().Reveal())
	return err
}

// pairedRoom returns the room of the configuration with an ID or a name; the desk if that is empty.
func pairedRoom(cfg *config.Config, name string) (executive.Room, error) {
	all := cfg.Rooms.All()
	i := slices.IndexFunc(all, func(r executive.Room) bool {
		return string(r.ID) == cmp.Or(name, string(earshot.Desk)) || strings.EqualFold(r.Name, name)
	})
	if i >= 0 {
		return all[i], nil
	}
	var known []string
	for _, r := range all {
		known = append(known, string(r.ID))
	}
	return executive.Room{}, &verdict{notFound, fmt.Errorf("there is no room %q; there are: %s", name, strings.Join(known, ", "))}
}

// busAddresses returns where other machines reach the bus: the addresses that the configuration says, or its
// servers, or the host that it listens at, or every address of this machine, its name first.
func busAddresses(c bus.Config) ([]string, error) {
	for _, said := range [][]string{c.Addresses, c.Servers} {
		if len(said) > 0 {
			return said, nil
		}
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		return []string{c.Listen}, nil
	}
	var hosts []string
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	all, err := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			hosts = append(hosts, n.IP.String())
		}
	}
	if len(hosts) == 0 {
		return nil, errors.Join(errors.New("this machine has no address that others could reach; set bus.addresses"), err)
	}
	var at []string
	for _, h := range hosts[:min(len(hosts), bus.MaxAddresses)] {
		at = append(at, net.JoinHostPort(h, port))
	}
	return at, nil
}

type pairList struct {
	JSON bool `help:"Print them as JSON."`
}

// Run lists the satellites.
func (l pairList) Run(a *app) error {
	cfg, err := a.asking("store.directory")
	if err != nil {
		return err
	}
	all, err := pairing.In(cfg.Store.Directory).List()
	if err != nil {
		return err
	}
	if l.JSON {
		return a.json(append([]pairing.Satellite{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.err, "No satellite is paired.")
	}
	for _, s := range all {
		fmt.Fprintln(a.out, terminal.Safe(fmt.Sprintf("%s  in the room %s  paired %s", s.ID, s.Room, s.Created.Local().Format(time.DateOnly))))
	}
	return nil
}

type pairRemove struct {
	Name string `arg:"" help:"The satellite, as \"earshot pair list\" shows it."`
}

// Run removes a satellite.
func (r pairRemove) Run(a *app) error {
	cfg, err := a.asking("store.directory")
	if err != nil {
		return err
	}
	known := pairing.In(cfg.Store.Directory)
	all, _ := known.List() // Remove says what is wrong with them
	err = known.Remove(r.Name)
	if errors.Is(err, pairing.ErrNone) {
		return &verdict{notFound, err}
	}
	if err == nil {
		_, err = fmt.Fprintln(a.out, "Removed.")
	}
	if i := slices.IndexFunc(all, func(s pairing.Satellite) bool { return s.ID == r.Name }); err == nil && i >= 0 && len(cfg.Bus.Servers) > 0 {
		_, err = fmt.Fprintf(a.err, "Take the nkey %s out of the servers of the bus, too: until then whoever has its code can connect there.\n", all[i].Key)
	}
	return err
}
