import { Suspense, useState } from "react";
import type { BroadcastSessionView } from "../../api/schema";
import { lazyComponent } from "../../base/lazy";
import { useDisabledReason } from "../../base/session";
import { catalogue } from "../../base/words/catalogue";
import { dateTime } from "../../base/words/formats";
import { Button, LinkButton } from "../../ui/Button";
import { Callout, Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { to } from "../../base/paths";
import { Countdown } from "./Countdown";
import { warningsOf } from "./draftSummary";
import { useForecast } from "./forecast";
import { Warnings } from "./Readiness";
import { SendSummary } from "./SendSummary";

const TestSend = lazyComponent(() => import("./TestSend").then((module) => ({ default: module.TestSend })));

const words = catalogue("broadcasts.scheduled", {
	starts: "It starts on {when}.",
	edit: "Edit",
	title: "What is sent",
	test: "Send test",
});

/** Scheduled shows a broadcast that has not started: when it does, what is sent to whom, and what is worth checking. */
export default function Scheduled({ broadcast }: { broadcast: BroadcastSessionView }) {
	const forecast = useForecast(broadcast);
	const [testing, setTesting] = useState(false);
	const testDisabledReason = useDisabledReason("POST /broadcasts/{broadcast_id}/test-send");
	return (
		<>
			{broadcast.scheduled_at && (
				<Callout tone="progress" title={words.starts({ when: dateTime(broadcast.scheduled_at) })}>
					<p>
						<Countdown to={broadcast.scheduled_at} />
					</p>
					<LinkButton small to={to.broadcastDraft(broadcast.id)}>
						{words.edit}
					</LinkButton>
				</Callout>
			)}
			<Card
				title={words.title}
				actions={
					<Button small disabledReason={testDisabledReason} onClick={() => setTesting(true)}>
						{words.test}
					</Button>
				}
			>
				{forecast.isPending && <Skeleton rows={3} />}
				{forecast.isError && <Failure error={forecast.error} retry={() => void forecast.refetch()} />}
				<SendSummary broadcast={broadcast} forecast={forecast.data} />
				<Warnings warnings={warningsOf(broadcast)} />
			</Card>
			{testing && (
				<Suspense>
					<TestSend
						value={broadcast}
						senders={forecast.data?.senders.length ?? Math.max(1, broadcast.sending_identity_emails?.length ?? 1)}
						onClose={() => setTesting(false)}
					/>
				</Suspense>
			)}
		</>
	);
}
