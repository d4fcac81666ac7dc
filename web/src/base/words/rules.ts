import { catalogue } from "./catalogue";

// Why an open or a click counts as a person's, a privacy proxy's or a machine's: the rules and signals of the
// classification, as docs/api.md lists them.

const sentences = catalogue("shell.rules", {
	R1: "The request only looks ahead: it does not fetch the content, or says that it prefetches.",
	R2: "The program names itself as a bot, a library or a scanner, or not at all.",
	R3: "It comes from the network of a scanner.",
	R4: "The same network requested the invisible link, which nobody can see.",
	R5: "It came within two seconds after the server took the mail, too soon for a person.",
	R6: "Several different links were requested within ten seconds.",
	R7: "The same address or network requested links of many people at once.",
	P1: "The program calls itself only “Mozilla/5.0”, as privacy proxies do.",
	P2: "Gmail fetched it in advance.",
	P3: "It comes through iCloud Private Relay, without a click soon after.",
	P4: "A mailbox provider fetched it the moment it had the mail.",
	U5: "The browser is very old, or contradicts itself.",
	H1: "Headers are missing that browsers send.",
	H2: "The browser says that a person followed the link.",
	T2: "It came within ten seconds after the server took the mail.",
	T3: "It came within a minute after the server took the mail.",
	T4: "It came within five minutes, and the mail server belongs to a vendor that scans.",
	B4: "The same address tried the link just before.",
	B5: "Most links of the mail were requested within five minutes.",
	N2: "It comes from the network of a cloud or of a security vendor.",
	N2b: "That network belongs to the vendor of the recipient's mail server, and it came soon.",
	G1: "It came some time after another one from the same place and program, as when people read.",
	G2: "It came ten minutes or more after the server took the mail, with no other link around it.",
	G3: "This person opened or clicked from this network with this kind of browser before.",
	G4: "Within an hour this person did something that only people do, such as sending a form.",
	L1: "It is the only click around this time, by a browser from a network in no list.",
});

/** ruleSentence says in words what a rule of the classification found; a rule without words is shown by its name. */
export const ruleSentence = (rule: string): string =>
	(sentences as { [rule: string]: string })[rule] ?? rule.replaceAll("_", " ");
