import { catalogue } from "./catalogue";

// Why an open or a click counts as a person's, a privacy proxy's or a machine's: the rules and signals of the
// classification, as docs/api.md lists them.

const sentences = catalogue("shell.rules", {
	R1: "The request only looks ahead: it does not fetch the content, or it says that it prefetches.",
	R2: "The program identifies itself as a bot, a library or a scanner, or not at all.",
	R3: "It came from the network of a scanner.",
	R4: "The same network requested the invisible link, which no person can see.",
	R5: "It came within two seconds after the server accepted the email, too soon for a person.",
	R6: "Several different links were requested within ten seconds.",
	R7: "The same address or network requested links of many people at once.",
	P1: "The program identifies itself only as “Mozilla/5.0”, as privacy proxies do.",
	P2: "Gmail fetched it ahead of time.",
	P3: "It came through iCloud Private Relay, without a click soon after.",
	P4: "A mailbox provider fetched it the moment it received the email.",
	U5: "The browser is very old or contradicts itself.",
	H1: "Headers that browsers send are missing.",
	H2: "The browser says that a person followed the link.",
	T2: "It came within ten seconds after the server accepted the email.",
	T3: "It came within a minute after the server accepted the email.",
	T4: "It came within five minutes, and the mail server belongs to a security vendor.",
	B4: "The same address tried the link just before.",
	B5: "Most links in the email were requested within five minutes.",
	N2: "It came from the network of a cloud provider or a security vendor.",
	N2b: "That network belongs to the vendor of the recipient's mail server, and it came soon.",
	G1: "It came some time after another one from the same place and program, as when people read.",
	G2: "It came ten minutes or more after the server accepted the email, with no other request around it.",
	G3: "This person opened or clicked from this network with the same kind of browser before.",
	G4: "Within an hour, this person did something only people do, such as submitting a form.",
	L1: "It is the only click around this time, by a browser from a network on no list.",
});

/** ruleSentence says in words what a rule of the classification found; a rule without words is shown by its name. */
export const ruleSentence = (rule: string): string =>
	(sentences as { [rule: string]: string })[rule] ?? rule.replaceAll("_", " ");
