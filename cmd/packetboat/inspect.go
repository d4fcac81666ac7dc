package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/packetboat/packetboat/internal/edge/inspect"
	"github.com/packetboat/packetboat/internal/engine/classify"
)

// inspectCommands read standard input and write JSON or bytes. They use neither the database nor the
// network (docs/inspect.md).
type inspectCommands struct {
	Inbound inspectInbound `cmd:"" help:"Show what a mail that came back says: a bounce, an abuse report, an automatic reply."`
	Reply   inspectReply   `cmd:"" help:"Classify replies of mail servers, one on each line."`
	Build   inspectBuild   `cmd:"" help:"Write the finished bytes of a message that a JSON object describes."`
	Sign    inspectSign    `cmd:"" help:"Add a DKIM signature to a message."`
	Verify  inspectVerify  `cmd:"" help:"Verify the DKIM signatures of a message."`
	SPF     inspectSPF     `cmd:"" name:"spf" help:"Check whether a host may send for a domain (SPF)."`
	DMARC   inspectDMARC   `cmd:"" name:"dmarc" help:"Find the DMARC policy of a domain, and what is aligned with it."`
	HTML    inspectHTML    `cmd:"" name:"html" help:"Rewrite the links of a mail's HTML."`
	Text    inspectText    `cmd:"" help:"Make the plain text of a mail from its HTML."`
	Address inspectAddress `cmd:"" help:"Read addresses, one on each line."`
	Header  inspectHeader  `cmd:"" help:"Write a header field as it stands in a message."`
	Events  inspectEvents  `cmd:"" help:"Classify opens and clicks as those of people or machines, from scenarios in JSON Lines."`
	Webhook inspectWebhook `cmd:"" help:"Verify and read the body of a provider's webhook."`
	UA      inspectUA      `cmd:"" name:"ua" help:"Read user agents, one on each line."`
}

// maxInput is how much of standard input is read, in bytes.
const maxInput = 16 << 20

// input returns all of standard input.
func (c *console) input() ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(c.in, maxInput+1))
	if err == nil && len(raw) > maxInput {
		err = fmt.Errorf("the input is longer than %d MB", maxInput>>20)
	}
	return raw, err
}

// line writes v as one line of JSON.
func (c *console) line(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// eachLine writes what f returns for each line of standard input that is not empty.
func (c *console) eachLine(f func(line string) any) error {
	lines := bufio.NewScanner(c.in)
	lines.Buffer(nil, maxInput)
	for lines.Scan() {
		text := strings.TrimSuffix(lines.Text(), "\r")
		if text == "" {
			continue
		}
		if err := c.line(f(text)); err != nil {
			return err
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d MB", maxInput>>20)
	}
	return lines.Err()
}

type inspectInbound struct{}

// Run reads one message.
func (inspectInbound) Run(c *console) error {
	raw, err := c.input()
	if err != nil {
		return err
	}
	return c.line(inspect.ReadInbound(raw))
}

type inspectReply struct{}

// Run reads replies; the provider and the stage may follow behind tabs.
func (inspectReply) Run(c *console) error {
	return c.eachLine(func(line string) any { return inspect.ReadReply(line) })
}

type inspectBuild struct{}

// Run reads the description of a message.
func (inspectBuild) Run(c *console) error {
	raw, err := c.input()
	if err != nil {
		return err
	}
	out, err := inspect.Build(raw)
	if err != nil {
		return err
	}
	_, err = c.out.Write(out)
	return err
}

type inspectSign struct {
	Domain   string `required:"" help:"Domain of the signature (d=)."`
	Selector string `required:"" help:"Selector of the key (s=)."`
	Key      string `required:"" placeholder:"FILE" help:"Private key, PKCS #8 in PEM."`
}

// Run reads a message.
func (cmd inspectSign) Run(c *console) error {
	key, err := os.ReadFile(cmd.Key)
	if err != nil {
		return err
	}
	raw, err := c.input()
	if err != nil {
		return err
	}
	out, err := inspect.Sign(raw, cmd.Domain, cmd.Selector, key, c.now())
	if err != nil {
		return err
	}
	_, err = c.out.Write(out)
	return err
}

// zoneFile is the option for DNS records.
type zoneFile struct {
	DNS string `required:"" name:"dns" placeholder:"FILE" help:"DNS records as JSON, such as {\"example.org\": {\"TXT\": [\"v=spf1 -all\"]}}."`
}

func (f zoneFile) zone() (inspect.Zone, error) {
	text, err := os.ReadFile(f.DNS)
	if err != nil {
		return nil, err
	}
	return inspect.ReadZone(text)
}

type inspectVerify struct {
	zoneFile
}

// Run reads a message.
func (cmd inspectVerify) Run(c *console) error {
	zone, err := cmd.zone()
	if err != nil {
		return err
	}
	raw, err := c.input()
	if err != nil {
		return err
	}
	return c.line(inspect.Verify(raw, zone))
}

type inspectSPF struct {
	zoneFile
	IP   string `required:"" name:"ip" help:"Address of the host that sends."`
	From string `help:"Envelope sender (MAIL FROM); empty for bounces."`
	HELO string `name:"helo" help:"Name of the host in HELO."`
}

// Run checks one mail.
func (cmd inspectSPF) Run(c *console) error {
	if cmd.From == "" && cmd.HELO == "" {
		return usageError("spf: write --from, --helo or both")
	}
	zone, err := cmd.zone()
	if err != nil {
		return err
	}
	result, err := inspect.CheckSPF(c.ctx, cmd.IP, cmd.From, cmd.HELO, zone)
	if err != nil {
		return usageError(err.Error())
	}
	return c.line(result)
}

type inspectDMARC struct {
	zoneFile
	From       string   `required:"" help:"Address or domain in From."`
	SPFDomain  string   `name:"spf-domain" help:"Domain that passed SPF."`
	DKIMDomain []string `name:"dkim-domain" help:"Domain with a valid signature; the option may be repeated."`
}

// Run checks one mail.
func (cmd inspectDMARC) Run(c *console) error {
	zone, err := cmd.zone()
	if err != nil {
		return err
	}
	return c.line(inspect.CheckDMARC(c.ctx, cmd.From, cmd.SPFDomain, cmd.DKIMDomain, zone))
}

type inspectHTML struct {
	Links string `placeholder:"FILE" help:"Write the links to this file, as JSON."`
	Base  string `default:"https://go.example.com" help:"Origin of the links that replace them."`
}

// Run reads HTML.
func (cmd inspectHTML) Run(c *console) error {
	raw, err := c.input()
	if err != nil {
		return err
	}
	out, list, problem := inspect.Links(string(raw), cmd.Base)
	if cmd.Links != "" {
		text, err := json.MarshalIndent(list, "", "  ")
		if err == nil {
			err = os.WriteFile(cmd.Links, append(text, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	if _, err := io.WriteString(c.out, out); err != nil {
		return err
	}
	return problem
}

type inspectText struct{}

// Run reads HTML.
func (inspectText) Run(c *console) error {
	raw, err := c.input()
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.out, inspect.Text(string(raw)))
	return err
}

type inspectAddress struct{}

// Run reads addresses.
func (inspectAddress) Run(c *console) error {
	return c.eachLine(func(line string) any { return inspect.ReadAddress(line) })
}

type inspectHeader struct {
	Name string `default:"Subject" help:"Name of the field. From, Reply-To, Sender and To take an address, all others text."`
}

// Run reads the value.
func (cmd inspectHeader) Run(c *console) error {
	raw, err := c.input()
	if err != nil {
		return err
	}
	out, err := inspect.Header(cmd.Name, strings.TrimRight(string(raw), "\r\n"))
	if err != nil {
		return err
	}
	_, err = c.out.Write(out)
	return err
}

type inspectEvents struct {
	Lists string `placeholder:"FILE" help:"More networks and user agents, as in PACKETBOAT_CLASSIFIER_LISTS."`
}

// Run reads scenarios and writes one result on each line.
func (cmd inspectEvents) Run(c *console) error {
	var lists *classify.Lists
	if cmd.Lists != "" {
		var err error
		if lists, err = classify.LoadLists(cmd.Lists); err != nil {
			return err
		}
	}
	raw, err := c.input()
	if err != nil {
		return err
	}
	results, err := inspect.ReadEvents(bytes.NewReader(raw), lists)
	if err != nil {
		return err
	}
	for _, r := range results {
		if err := c.line(r); err != nil {
			return err
		}
	}
	return nil
}

type inspectWebhook struct {
	Provider string `required:"" help:"ses, sendgrid, mailgun, postmark or generic."`
	Key      string `help:"What the request is verified with, or a file that contains it: see docs/inspect.md."`
	Headers  string `placeholder:"FILE" help:"Header fields of the request as JSON, such as {\"Content-Type\": \"text/plain\"}."`
}

// Run reads the body of one request.
func (cmd inspectWebhook) Run(c *console) error {
	h, key := http.Header{}, cmd.Key
	if text, err := os.ReadFile(key); err == nil {
		key = strings.TrimRight(string(text), "\r\n")
	}
	if cmd.Headers != "" {
		text, err := os.ReadFile(cmd.Headers)
		if err != nil {
			return err
		}
		if h, err = inspect.ReadHeaders(text); err != nil {
			return err
		}
	}
	body, err := c.input()
	if err != nil {
		return err
	}
	out, err := inspect.ReadWebhook(cmd.Provider, body, h, key, c.now())
	if err != nil {
		return err
	}
	return c.line(out)
}

type inspectUA struct{}

// Run reads user agents.
func (inspectUA) Run(c *console) error {
	return c.eachLine(func(line string) any { return inspect.ReadAgent(line) })
}
