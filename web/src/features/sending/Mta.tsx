import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "wouter";
import { api, newKey } from "../../api/client";
import type { MtaConfigRow } from "../../api/schema";
import { useSession, useDisabledReason } from "../../base/session";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Columns, TextField } from "../../ui/Field";
import { Figure, Figures } from "../../ui/Figure";
import { isGone, NotFound } from "../../ui/NotFound";
import { Card, Callout, Page } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { attemptError } from "../../base/words/replies";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { explain } from "../../base/words/errors";
import { Editor } from "./MtaEditor";
import { MtaLimits } from "./MtaLimits";
import { Warmup } from "./Warmup";
import { mtaQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("sending.mta", {
	sending: "Sending setup",
	add: "Add sending server",
	health: "Health",
	since: "Since",
	sent: "Sent today",
	left: "Remaining today",
	noLimit: "No daily limit",
	lastError: "Last error",
	test: "Send test email",
	testHelp: "Sends one email and shows the server's answer.",
	to: "To",
	took: "Accepted in {ms, number} ms",
	refused: "Refused",
});

/** MtaPage shows or creates an MTA config. */
export default function MtaPage() {
	const { id = "new" } = useParams<{ id: string }>();
	const query = useQuery({ ...mtaQuery(id), enabled: id !== "new" });
	const breadcrumbs = [{ name: words.sending, to: to.sending() }];
	if ((id !== "new" && !query.data) || isGone(query.error))
		return (
			<NotFound
				query={query}
				list={words.sending}
				to={to.sending()}
				breadcrumbs={breadcrumbs}
				unsavedInput={{ kinds: ["mta_config"], id }}
			/>
		);
	return (
		<Page
			title={query.data?.name ?? words.add}
			breadcrumbs={breadcrumbs}
			status={query.data && <StateBadge kind="mta" state={query.data.active ? query.data.health.state : "off"} />}
		>
			{query.data && (
				<>
					<Health lane={query.data} />
					<Warmup warmup={query.data.warmup} />
					<MtaLimits lane={query.data} />
				</>
			)}
			<Editor key={query.data?.id ?? "new"} lane={query.data} />
		</Page>
	);
}

/** Health shows what an MTA config has sent, and tries it with one mail. */
export function Health({ lane }: { lane: MtaConfigRow }) {
	const { user } = useSession();
	const disabledReason = useDisabledReason("POST /mta-configs/{id}/test");
	const [to, setTo] = useState(user.email);
	const test = useMutation({
		mutationFn: () =>
			api("POST /mta-configs/{id}/test", { path: { id: lane.id }, body: { to }, idempotencyKey: newKey() }),
	});
	return (
		<Card title={words.health}>
			<p>
				<StateBadge kind="mta" state={lane.active ? lane.health.state : "off"} /> {words.since}{" "}
				<Time at={lane.health.since} />
			</p>
			<Figures>
				<Figure
					name={words.sent}
					description={{ definition: term("sentToday").definition }}
					value={exactNumber(lane.health.sent_today)}
				/>
				<Figure
					name={words.left}
					description={{ definition: term("leftToday").definition }}
					value={lane.health.remaining_today === null ? "–" : exactNumber(lane.health.remaining_today)}
					detail={lane.health.remaining_today === null ? words.noLimit : undefined}
				/>
			</Figures>
			{lane.health.last_error && (
				<Callout tone="warning" title={words.lastError}>
					{attemptError(lane.health.last_error)}
				</Callout>
			)}
			<form
				onSubmit={(event) => {
					event.preventDefault();
					test.mutate();
				}}
			>
				<Columns>
					<TextField
						label={words.to}
						type="email"
						help={words.testHelp}
						value={to}
						onChange={setTo}
						after={
							<Button type="submit" disabledReason={disabledReason} busy={test.isPending}>
								{words.test}
							</Button>
						}
					/>
				</Columns>
			</form>
			{test.data && (
				<Callout
					tone={test.data.accepted ? "success" : "danger"}
					title={test.data.accepted ? words.took({ ms: test.data.latency_ms }) : words.refused}
				>
					<code>{[test.data.smtp_code, test.data.smtp_response].filter(Boolean).join(" ")}</code>
				</Callout>
			)}
			{test.error && <Callout tone="danger">{explain(test.error)}</Callout>}
		</Card>
	);
}
