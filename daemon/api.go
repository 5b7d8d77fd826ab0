package daemon

import (
	"context"

	"earshot"
	"earshot/api"
	"earshot/config"
	"earshot/daemon/section"
	"earshot/internal/probe"
	"earshot/server/audit"
)

// InstallAPI opens the audit log and, if it is configured, the port for programs, and reports the
// port's state. The error says why the audit log cannot be written.
func (d *Daemon) InstallAPI(ctx context.Context) ([]api.CheckResult, error) {
	audits, err := audit.Open(config.AuditFile(d.Config()), d.auditLost)
	if err != nil {
		return nil, err
	}
	d.reloads.done, d.server.Audit = audits, audits.Write
	err = d.port.Open(ctx)
	d.sections.Install(ctx, &section.Section{Name: apiSection, Build: func(context.Context) section.Build {
		d.port.Set(d.Config().Server) // it continues with those settings
		return section.Build{Parts: []section.Part{{Name: probe.APIPart, Run: d.port.Run, Lost: err != nil, Key: probe.APIPart}}}
	}})
	if err != nil {
		f := api.CheckResult{Thing: probe.APIPart}
		f.Text, f.Cure = earshot.Explain(err)
		d.ShowNotice(f.Notice())
		return []api.CheckResult{f}, nil
	}
	if at := d.port.URL(); at != "" {
		return []api.CheckResult{{Thing: probe.APIPart, Works: true, Text: "listens at " + at + "; clients need a token: earshot token create NAME"}}, nil
	}
	return nil, nil
}

// auditLost tells the operators that changes are no longer recorded in the audit log.
func (d *Daemon) auditLost(err error) {
	d.report(earshot.Notice{Key: "audit", Text: "the audit log cannot be written: " + err.Error(), Cure: "make room on the disk, or fix the permissions of the file"})
}
