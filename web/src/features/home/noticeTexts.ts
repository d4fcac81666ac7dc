import { catalogue } from "../../base/words/catalogue";
import { quoted, sentences } from "../../base/words/forms";
import { jobTitle } from "../../base/words/jobTitles";
import { clauseSentence } from "../../base/words/errors";

// Sentences for what needs attention.

const words = catalogue("home.notices", {
	pausedComplaints: "The domain {name} is paused because of spam complaints.",
	pausedBounces: "The domain {name} is paused because of hard bounces.",
	pausedDNS: "The domain {name} is paused because DNS records are missing or wrong.",
	pausedOperator: "The operator of this installation has paused the domain {name}.",
	noLane: "{name} is paused because no sending server accepts mail.",
	domainPaused: "{name} is paused because its sending domain is paused.",
	tenantPaused: "{name} is paused because the workspace is paused.",
	paused: "{name} is paused.",
	held: "{name} waits because the operator of this installation has stopped all sends.",
	unverified: "The domain {name} is no longer verified because DNS records are missing or wrong.",
	tracking: "The tracking host {name} does not answer.",
	records: "Required DNS records of {name} are missing or wrong.",
	complaintsTo:
		"Domain {name}: {rate, number} % of emails to {provider} were reported as spam ({n, number} of {of, number}).",
	complaints: "Domain {name}: {rate, number} % of emails were reported as spam ({n, number} of {of, number}).",
	bounces: "Domain {name}: {rate, number} % of emails were hard bounces ({n, number} of {of, number}).",
	refusalsTo:
		"Domain {name}: {provider} refused {rate, number} % of attempts because of content or reputation ({n, number} of {of, number}).",
	refusals:
		"Domain {name}: {rate, number} % of attempts were refused because of content or reputation ({n, number} of {of, number}).",
	loginsTo:
		"Domain {name}: {provider} refused {rate, number} % of attempts because authentication failed ({n, number} of {of, number}).",
	logins:
		"Domain {name}: {rate, number} % of attempts were refused because authentication failed ({n, number} of {of, number}).",
	strangers:
		"Domain {name}: {rate, number} % of the first recipients of a broadcast to a new list do not exist ({n, number} of {of, number}).",
	throughput:
		"Domain {name}: hardly any emails are sent although some are due ({n, number}, before that {of, number}).",
	laneTrouble: "Many attempts by {name} fail to connect or to log in.",
	laneDownWhy: "{name} cannot be reached: “{reply}”",
	laneDown: "{name} cannot be reached.",
	seedsStale: "The seed list {name} is out of date and gets no copies. Update its addresses.",
	seedsDue: "The addresses of the seed list {name} are due for an update.",
	webhookGone: "The webhook {name} was disabled because it answered 410.",
	webhookFailed: "The webhook {name} was disabled because all attempts failed.",
	webhookFails: "Attempts to deliver events to {name} fail.",
	unsendable: "The sequence {name} has an email that cannot be sent. {why}",
	form: "No sender can send the confirmation mail of the form {name}.",
	failedWhy: "{name} failed. {why}",
	failed: "{name} failed.",
});

const one = sentences(
	words,
	{
		pausedComplaints: "{name} is paused for complaints",
		pausedBounces: "{name} is paused for hard bounces",
		pausedDNS: "{name} is paused because its DNS records are missing or wrong",
		pausedOperator: "{name} is paused by the operator",
		noLane: "{name} is paused: no MTA config is up",
		domainPaused: "{name} is paused: its sending domain is paused",
		tenantPaused: "{name} is paused: the account is paused",
		paused: "{name} is paused {why}",
		held: "{name} waits: the operator of the installation holds all sends",
		unverified: "{name} is not verified any more: required DNS records are missing or wrong",
		tracking: "the tracking host {name} does not answer",
		records: "required DNS records of {name} are missing or wrong",
		complaintsTo: "{name}: {rate#} % of the mails to {provider~} were reported as spam ({n#} of {of#} in {n2#} {span})",
		complaints: "{name}: {rate#} % of the mails were reported as spam ({n#} of {of#} in {n2#} {span})",
		bounces: "{name}: {rate#} % of the mails were hard bounces ({n#} of {of#} in {n2#} {span})",
		refusalsTo:
			"{name}: {rate#} % of the attempts to {provider~} were refused for content or reputation ({n#} of {of#} in {n2#} {span})",
		refusals:
			"{name}: {rate#} % of the attempts were refused for content or reputation ({n#} of {of#} in {n2#} {span})",
		loginsTo:
			"{name}: {rate#} % of the attempts to {provider~} were refused because authentication failed ({n#} of {of#} in {n2#} {span})",
		logins:
			"{name}: {rate#} % of the attempts were refused because authentication failed ({n#} of {of#} in {n2#} {span})",
		strangers: "{name}: {rate#} % of the first recipients of a broadcast to a new list do not exist ({n#} of {of#})",
		throughput: "{name}: hardly any messages leave though some are due ({n#} in {n2#} {span}; before, {of#})",
		laneTrouble: "many attempts by {name} fail to connect or to log in",
		laneDownWhy: "{name} is down: {reply}",
		laneDown: "{name} is down",
		seedsStale: "{name} is stale and gets no copies; update its addresses",
		seedsDue: "{name} is due for an update of its addresses",
		webhookGone: "{name} was disabled: it answered 410",
		webhookFailed: "{name} was disabled: all attempts failed",
		webhookFails: "attempts to deliver events to {name} fail",
		unsendable: "{name} has a mail that cannot be sent: {why*}",
		form: "no sender can send the confirmation mail of {name}",
		failedWhy: "{name} failed: {why*}",
		failed: "{name~} failed",
	},
	(why) => clauseSentence(why) ?? quoted(why),
);

/** noticeText returns the sentence for a notice of the server. That about a job begins with the title of the job. */
export function noticeText({ kind, message }: { kind: string; message: string }): string {
	const text = kind === "job" ? message.replace(/^.*?(?= failed(?:: |$))/s, jobTitle) : message;
	return one(text) ?? quoted(text);
}
