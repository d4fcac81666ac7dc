package main

import (
	"fmt"

	"github.com/packetboat/packetboat/internal/edge/app"
)

type doctorCommand struct {
	ProbeDomain string `default:"gmail.com" placeholder:"DOMAIN" help:"Domain whose mail server is connected to, when mail is sent directly to recipients' servers; empty for none."`
}

// Run examines the installation. It fails if there are errors; warnings are not errors.
func (cmd doctorCommand) Run(c *console) error {
	report := app.Doctor(c.ctx, c.cfg, c.configFile, cmd.ProbeDomain)
	var err error
	if c.json {
		err = c.show(report, "")
	} else {
		err = report.Write(c.out)
	}
	if err == nil && report.Errors > 0 {
		return fmt.Errorf("%d errors were found", report.Errors)
	}
	return err
}
