import { Link } from "wouter";
import type { DomainWarning, SendingDomain } from "../../api/schema";
import { Figure, Figures } from "../../ui/Figure";
import { Card, Callout } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { catalogue } from "../../base/words/catalogue";
import { full, percent } from "../../base/words/formats";
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
		health.warnings.some((w) => w.metric === metric) ? "warning" : undefined;
	return (
		<Card title={words.title}>
			{health.warnings.map((w) => (
				<Warning key={`${w.metric} ${w.provider} ${w.broadcast_id}`} warning={w} />
			))}
			<Figures>
				<Figure
					name={words.deliveries}
					about={{ definition: term("deliveries").definition }}
					value={full(health.deliveries)}
				/>
				<Figure
					name={words.bounces}
					about={{ definition: term("hardBounceRate").definition }}
					value={percent(health.hard_bounce_rate)}
					tone={tone("hard_bounce_rate")}
				/>
				<Figure
					name={words.complaints}
					about={{ definition: term("complaintRate").definition }}
					value={percent(health.complaint_rate, 3)}
					tone={tone("complaint_rate")}
				/>
			</Figures>
		</Card>
	);
}

function Warning({ warning: w }: { warning: DomainWarning }) {
	const sentence = words.metrics[w.metric] ?? w.metric;
	return (
		<Callout tone="warning" title={w.provider ? words.at({ sentence, provider: w.provider }) : sentence}>
			{words.of({ count: full(w.count), of: full(w.of), rate: percent(w.rate) })} {words.since} <Time at={w.since} />.{" "}
			{w.broadcast_id && <Link href={to.broadcast(w.broadcast_id)}>{words.broadcast}</Link>}
		</Callout>
	);
}
