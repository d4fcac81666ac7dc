import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, newKey } from "../../api/client";
import type { MtaConfigRow } from "../../api/schema";
import { within } from "../../base/queries";
import { useDisabledReason, useSession } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import { exactNumber } from "../../base/words/formats";
import { term } from "../../base/words/glossary";
import { attemptError } from "../../base/words/replies";
import { StateBadge } from "../../ui/Badge";
import { Button } from "../../ui/Button";
import { Columns, TextField } from "../../ui/Field";
import { Figure, Figures } from "../../ui/Figure";
import { Callout, Card } from "../../ui/Page";
import { Time } from "../../ui/Time";
import { ConnectionTest, TestResult } from "./ConnectionTest";

const words = catalogue("sending.mtaHealth", {
	health: "Health",
	since: "Since",
	sent: "Sent today",
	left: "Remaining today",
	noLimit: "No daily limit",
	lastError: "Last error",
	test: "Send test email",
	testHelp: "Sends one email with the saved settings and shows the server's answer.",
	to: "To",
});

/** Health shows what an MTA config has sent, and tries it with one mail. */
export function Health({ lane }: { lane: MtaConfigRow }) {
	const { user } = useSession();
	const disabledReason = useDisabledReason("POST /mta-configs/{id}/test");
	const client = useQueryClient();
	const [to, setTo] = useState(user.email);
	const test = useMutation({
		mutationFn: () =>
			api("POST /mta-configs/{id}/test", { path: { id: lane.id }, body: { to }, idempotencyKey: newKey() }),
		onSuccess: () =>
			Promise.all(
				[within("mta_config", lane.id), within("mta_configs"), within("overview")].map((filter) =>
					client.invalidateQueries(filter),
				),
			),
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
			<ConnectionTest lane={lane} />
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
			<TestResult result={test.data} error={test.error} mail />
		</Card>
	);
}
