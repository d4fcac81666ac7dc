import { Link } from "wouter";
import type { DomainWarning, SendingDomain } from "../../api/schema";
import { Figure, Figures } from "../../ui/Figure";
import { Card, Callout } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber, percent } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { to } from "../../base/paths";

const words = catalogue("sending.domainHealth", {
	title: "Health in the last 24 hours",
	deliveries: "Deliveries",
	bounces: "Hard bounces",
	complaints: "Spam complaints",
	since: "Since",
	broadcast: "Open broadcast",
	at: "{sentence} At {provider}.",
	of: "{count} of {of} ({rate}).",
	metrics: {
		complaint_rate: "Many recipients report spam.",
		hard_bounce_rate: "Many addresses do not exist.",
		refusal_rate: "Many emails are refused because of their content or the domain's reputation.",
		auth_failure_rate: "Many emails are refused because SPF, DKIM or DMARC fails.",
		unknown_user_rate: "Many recipients on a new list do not exist.",
		throughput: "Almost no mail leaves, although emails are waiting.",
	},
});

/** DomainHealth shows the figures of a domain and what the server warns of. */
export function DomainHealth({ health }: { health: NonNullable<SendingDomain["health"]> }) {
	const tone = (metric: DomainWarning["metric"]) =>
		health.warnings.some((warning) => warning.metric === metric) ? "warning" : undefined;
	return (
		<Card title={words.title}>
			{health.warnings.map((warning) => (
				<Warning key={`${warning.metric} ${warning.provider} ${warning.broadcast_id}`} warning={warning} />
			))}
			<Figures>
				<Figure
					name={words.deliveries}
					description={{ definition: term("deliveries").definition }}
					value={exactNumber(health.deliveries)}
				/>
				<Figure
					name={words.bounces}
					description={{ definition: term("hardBounceRate").definition }}
					value={percent(health.hard_bounce_rate)}
					tone={tone("hard_bounce_rate")}
				/>
				<Figure
					name={words.complaints}
					description={{ definition: term("complaintRate").definition }}
					value={percent(health.complaint_rate, 3)}
					tone={tone("complaint_rate")}
				/>
			</Figures>
		</Card>
	);
}

function Warning({ warning }: { warning: DomainWarning }) {
	const sentence = words.metrics[warning.metric] ?? warning.metric;
	return (
		<Callout tone="warning" title={warning.provider ? words.at({ sentence, provider: warning.provider }) : sentence}>
			{words.of({ count: exactNumber(warning.count), of: exactNumber(warning.of), rate: percent(warning.rate) })}{" "}
			{words.since} <Time at={warning.since} />.{" "}
			{warning.broadcast_id && <Link href={to.broadcast(warning.broadcast_id)}>{words.broadcast}</Link>}
		</Callout>
	);
}
